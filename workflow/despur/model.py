"""A finished run as a model: ``despur.load("results/runs/colored_digits/cnc/s0-2").predict(images)``."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from despur.compute.input_batcher import InputBatcher
from despur.compute.randomness import derive_generator
from despur.compute.task import encode, head_of
from despur.specs.declarations import read_declarations
from despur.specs.names import unknown
from despur.specs.paths import ResultPath, Run, locate_result
from despur.specs.settings import SettingError
from despur.specs.spec import Spec
from despur.storage.containers import Container
from despur.storage.reading import read_json
from despur.storage.store import Array
from despur.training.inputs import load_method_class


class Model:
    """Encoder and head (if there is one) of one run, on the CPU. Where the run reads stage-1 representations, the
    encoder begins with the stage-1 encoder. ``shape``: of one input, (C,H,W), (D,) or (T,); ``classes``: their names,
    in the order of the logits."""

    def __init__(self, networks: nn.ModuleDict, shape: tuple[int, ...], classes: list[str]) -> None:
        self.networks, self.shape, self.classes = networks.eval(), shape, classes

    def outputs(self, inputs: Array) -> dict[str, Array]:
        """Representations ``z`` (N,D) and (with a head) ``logits`` (N,C) of inputs in a data set's form: uint8
        images (N,H,W,C), which are cropped at the center, float32 embeddings (N,D) or int tokens (N,T). Raises
        ValueError for other inputs."""
        given, channels, size = np.array(inputs), self.shape[0], self.shape[-1]
        if len(self.shape) == 3:
            fits = (
                given.dtype == np.uint8
                and given.ndim == 4
                and given.shape[3] == channels
                and min(given.shape[1:3]) >= size
            )
            wanted = f"uint8 images (N,H,W,{channels}) of at least {size}x{size} pixels"
        else:
            fits = given.dtype in (np.float32, np.int32, np.int64) and given.shape[1:] == self.shape
            wanted = f"float32 embeddings or int tokens (N,{size})"
        if not fits:
            raise ValueError(
                f"inputs are {given.dtype} {given.shape}; this model takes {wanted}, as its data set stores them"
            )
        batcher = InputBatcher(torch.from_numpy(given), size)
        return encode(self.networks["encoder"], head_of(self.networks), batcher, derive_generator("predict"))

    def predict(self, inputs: Array) -> Array:
        """Predicted class of each input, (N,): positions in ``classes``. Raises ValueError for a model without a
        head."""
        outputs = self.outputs(inputs)
        if "logits" not in outputs:
            raise ValueError("this model has no classifier: take representations(inputs) and fit a classifier on them")
        return outputs["logits"].argmax(axis=1)

    def representations(self, inputs: Array) -> Array:
        """Representation of each input, float16 (N,D)."""
        return self.outputs(inputs)["z"]


def load(
    folder: str | Path,
    seed: int | None = None,
    method: str | None = None,
    selection: str = "best",
    data: str | None = None,
) -> Model:
    """Load a model from a run ``folder``: its first run, or the one with this ``seed`` and, in a sweep, this ``method``
    point (``cnc+lambda=0.4``) or ``data`` point.

    ``selection``: "best" on validation data, the "last" step, or what else the run kept (docs/metrics.md). Raises
    SettingError if the folder holds no such run.

    >>> import despur
    >>> model = despur.load("results/runs/colored_digits/erm+epochs=1/s0")  # where despur.train has kept it
    >>> model.shape, model.classes
    ((3, 32, 32), ['0,1', '2,3', '4,5', '6,7', '8,9'])
    """
    result = locate_result(folder)
    runs = [
        run
        for run in result.runs()
        if seed in (None, run.seed) and method in (None, run.spec.name) and data in (None, run.data.name)
    ]
    if not runs:
        raise SettingError(
            f"{folder} holds no run with seed {seed}, method {method} and data {data}: "
            f"{', '.join(run.key for run in result.runs())}"
        )
    return model_of(result, runs[0], selection)


def model_of(result: ResultPath, run: Run, selection: str = "best") -> Model:
    """The model of one run of a folder."""
    said = read_json(result.folder / "about.json")
    about, by_rule = said["data"][run.data.name], said["runs"][run.key].get("selections", {})
    networks = load_method_class(run.spec.base_name).build_networks(
        without_pretrained(run.spec), tuple(about["shape"]), len(about["classes"])
    )
    key = f"{run.key}/{by_rule.get(selection, selection)}"
    container = Container(result.folder / "models.safetensors")
    if not (weights := container.load_arrays(key)):
        raise unknown("selection", selection, {*container.list_names(run.key), *by_rule})
    state = {name: torch.from_numpy(weights[name]) for name in networks.state_dict()}
    networks.load_state_dict(state)
    if "stage1_selection" in run.spec.settings:  # its inputs are that model's representations
        stage1 = run.spec.components["stage1"]
        folder = result.find_upstream("stage1", run).folder
        below = load(folder, stage1.seed(run.seed), stage1.name, run.spec.settings["stage1_selection"], run.data.name)
        networks["encoder"] = stack_encoders(below.networks["encoder"], networks["encoder"])
        return Model(networks, below.shape, about["classes"])
    return Model(networks, tuple(about["shape"]), about["classes"])


def stack_encoders(below: nn.Module, above: nn.Module) -> nn.Sequential:
    """One encoder after another. A saliency map is still computed at the layer of the first one."""
    network = nn.Sequential(below, above)
    if hasattr(below, "saliency_layer"):
        vars(network).update(
            saliency_layer=f"0.{below.saliency_layer}", saliency_margin=getattr(below, "saliency_margin", 0)
        )
    return network


def without_pretrained(spec: Spec) -> Spec:
    """The same specification without pretrained weights: all weights of a run are in its folder, except those of a
    model that is merely applied."""
    if spec.kind == "methods" and read_declarations("methods", spec.base_name).get("SEEDLESS"):
        return spec
    components = {key: without_pretrained(component) for key, component in spec.components.items()}
    return replace(
        spec,
        components=components,
        settings=spec.settings | ({"weights": "random"} if "weights" in spec.settings else {}),
    )
