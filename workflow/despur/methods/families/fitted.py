"""Methods that are fitted, not trained by gradients; among them affine maps of given representations (``stage1``)."""

from typing import Any

import numpy as np
import torch
from torch import nn

from despur.compute.task import Task
from despur.methods.base import Method
from despur.specs.spec import Spec
from despur.storage.store import Array

Affine = tuple[Array, Array]  # weight, bias


def load_affine(layer: nn.Module, affine: Affine) -> None:
    """Give a linear layer these weights and biases."""
    weight, bias = (torch.from_numpy(np.array(values)) for values in affine)
    layer.load_state_dict({"weight": weight, "bias": bias})


class FittedMethod(Method):
    """A method that is fitted at once, without gradients: one step, one epoch, one evaluation."""

    def __init__(self, task: Task, spec: Spec) -> None:
        super().__init__(task, spec)
        self.found: dict[str, Any] = {}

    def fit(self, rng: np.random.Generator) -> None:
        """Set the weights of ``self.networks`` from all training samples, and ``self.found``, its metadata."""
        raise NotImplementedError

    def metadata(self) -> dict[str, Any]:
        return self.found

    def state(self) -> dict[str, Any]:
        return {**super().state(), "found": self.found}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.found = state["found"]


class AffineMethod(FittedMethod):
    """An affine map of representations, and a linear head on its outputs."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": nn.Linear(dim, dim), "head": nn.Linear(dim, num_classes)})

    def fit_maps(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        """The map, (D,D) and (D,), and the head on its outputs, (C,D) and (C,), from representations ``z`` (N,D) and
        classes ``y`` (N,)."""
        raise NotImplementedError

    def fit(self, rng: np.random.Generator) -> None:
        z = self.task.batcher.batch(np.arange(len(self.task)), rng).cpu().numpy()
        encoder, head = self.fit_maps(z, self.task.y, rng)
        load_affine(self.networks["encoder"], encoder)
        load_affine(self.networks["head"], head)


class HeadMethod(AffineMethod):
    """The map is the identity. The head is fitted to standardized representations."""

    def fit_head(self, x: Array, y: Array, rng: np.random.Generator) -> Affine:
        """The head, (C,D) and (C,), on standardized representations ``x`` (N,D) of classes ``y`` (N,)."""
        raise NotImplementedError

    def fit_maps(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        mean, scale = z.mean(axis=0), np.maximum(z.std(axis=0), 1e-6)
        weight, bias = self.fit_head((z - mean) / scale, y, rng)
        weight = weight / scale
        return (np.eye(z.shape[1]), np.zeros(z.shape[1])), (weight, bias - weight @ mean)
