"""A finished run as a model: ``despur.load("results/runs/colored_digits/cnc/s0-2").predict(images)``."""

import json
from pathlib import Path

import numpy as np
import torch
from torch import nn

from despur.paths import locate
from despur.randomness import generator
from despur.runs import method_class
from despur.settings import SettingError
from despur.store import Array, Container
from despur.task import Presentation, encode, head_of


class Model:
    """Encoder and head (if it has one) of one run, on the CPU."""

    def __init__(self, networks: nn.ModuleDict, size: int, classes: list[str]) -> None:
        self.networks, self.size, self.classes = networks.eval(), size, classes

    def outputs(self, inputs: Array) -> dict[str, Array]:
        """Representations ``z`` (N,D) and (with a head) ``logits`` (N,C) of inputs as a data set stores them: uint8 images (N,H,W,C),
        cropped at the centre, or float embeddings (N,D)."""
        shown = Presentation(torch.from_numpy(np.array(inputs)), self.size)
        return encode(self.networks["encoder"], head_of(self.networks), shown, generator("predict"))

    def predict(self, inputs: Array) -> Array:
        """Predicted class of each input, (N,): positions in ``classes``. Raises ValueError for a model that learned without labels."""
        found = self.outputs(inputs)
        if "logits" not in found:
            raise ValueError("this model learned without labels: take outputs(inputs)['z'] and fit a classifier on it")
        return found["logits"].argmax(axis=1)


def load(folder: str | Path, seed: int | None = None, method: str | None = None, selection: str = "best") -> Model:
    """The model of a run folder: its first run, or that of a seed and, in a sweep, of a method point (``cnc+lambda=0.4``).

    ``selection``: "best" on validation data, or the "last" step. Raises SettingError if the folder holds no such run.
    """
    place = locate(folder)
    runs = [run for run in place.runs() if seed in (None, run.seed) and method in (None, run.spec.name)]
    if not runs:
        raise SettingError(f"{folder} holds no run with seed {seed} and method {method}: {', '.join(run.key for run in place.runs())}")
    run, data = runs[0], json.loads((place.folder / "about.json").read_text())["data"][runs[0].data.name]
    networks = method_class(run.spec.base).build_networks(run.spec, tuple(data["shape"]), len(data["classes"]))
    weights = Container(place.folder / "models.safetensors").under(f"{run.key}/{selection}")
    own = {name: torch.from_numpy(weights[name]) for name in networks.state_dict()}
    networks.load_state_dict(own)
    return Model(networks, data.get("size", 0), data["classes"])
