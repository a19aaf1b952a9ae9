"""Adapter (Gao et al. 2021; Sec. 3.2 of Zhang & Re 2022): a bottleneck moves embeddings towards the embeddings of
their classes."""

import math

import numpy as np
from torch import nn

from despur.methods.base import GradientMethod
from despur.methods.families.embeddings import Bottleneck, freeze, stage1_outputs
from despur.specs.hyperparameters import on_embeddings
from despur.specs.settings import bool_, float_, int_
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {
    **on_embeddings(),
    "hidden": int_(128, "Table 6: 263,424 and 197,632 parameters are 2DH + 2H + D", at_least=1),
    "batch_norm": bool_(True, "released code, and Table 6; Eq. 4 has none"),
    "temperature": float_(0.01, "released code: tau of Eq. 3", above=0),
}


class Adapter(GradientMethod):
    """Eq. 4, then the zero-shot classifier, W^T f(u) / tau, trained by cross-entropy (Eq. 5). The class embeddings W
    are not trained."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        encoder = Bottleneck(dim, spec.settings["hidden"], spec.settings["batch_norm"])
        return nn.ModuleDict({"encoder": encoder, "head": nn.Linear(dim, num_classes, bias=False)})

    def setup(self) -> None:
        freeze(self.networks["head"], stage1_outputs(self.task).head / self.settings["temperature"])

    def mini_batches(self, rows: Array) -> list[Array]:
        """These rows in mini-batches of about equal size, because batch norm cannot take a single sample."""
        return np.array_split(rows, math.ceil(len(rows) / self.settings["batch_size"]))
