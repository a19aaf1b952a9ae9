"""Methods that are fitted at once, without gradients."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from despur.compute.task import Task
from despur.methods.base import Losses, Method
from despur.specs.spec import Spec
from despur.storage.store import Array

Affine = tuple[Array, Array]


class Fitted(Method):
    """An affine map of given representations (``stage1``) and a linear head: one step of the training loop fits
    both."""

    def __init__(self, task: Task, spec: Spec) -> None:
        self.task = task
        self.settings = {
            "epochs": 1,
            "evaluate_every": 0,
            "snapshots": 0,
            "patience": 0,
            "criterion": "worst_group_accuracy",
            **spec.settings,
        }
        self.networks = self.build_networks(spec, task.batcher.shape, task.num_classes).to(task.device)
        self.found: dict[str, Any] = {}

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": nn.Linear(dim, dim), "head": nn.Linear(dim, num_classes)})

    def fit(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        """Weights and biases of the map, (D,D) and (D,), and of the head on what it maps to, (C,D) and (C,). ``z``:
        (N,D)."""
        raise NotImplementedError

    def metadata(self) -> dict[str, Any]:
        return self.found

    def compilable_modules(self) -> list[nn.Module]:
        """None: the one step is a fit, and calls them once."""
        return []

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """All training samples at once."""
        yield np.arange(len(self.task))

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.task.batcher.batch(batch, rng)
        for name, (weight, bias) in zip(("encoder", "head"), self.fit(z.cpu().numpy(), self.task.y, rng), strict=True):
            values = {"weight": weight, "bias": bias}
            self.networks[name].load_state_dict(
                {key: torch.from_numpy(np.array(value)) for key, value in values.items()}
            )
        with torch.no_grad():
            logits = self.networks["head"](self.networks["encoder"](z))
        return {"loss": nn.functional.cross_entropy(logits, self.task.labels[batch])}

    def set_learning_rate(self, epoch: float) -> None:
        """There is none."""

    def state(self) -> dict[str, Any]:
        return {"networks": self.networks.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        self.networks.load_state_dict(state["networks"])
