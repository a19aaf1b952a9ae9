"""Linear probe (Sec. 3.2 of Zhang & Re 2022): a linear classifier on a foundation model's embeddings, trained by
ERM.

As in the released code, embeddings have the length that the model gives them: one number for all samples."""

from torch import nn

from despur.encoders.identity import Identity
from despur.methods.base import GradientMethod
from despur.methods.families.embeddings import Probe, stage1_outputs
from despur.specs.hyperparameters import on_embeddings
from despur.specs.spec import Spec

SETTINGS = {**on_embeddings()}


class LinearProbe(GradientMethod):
    """f(u) = W u + b, on cross-entropy. Sec. 3.2 has no b; the released code has."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Identity(dim), "head": Probe(dim, num_classes)})

    def setup(self) -> None:
        self.networks["head"].get_buffer("length").fill_(stage1_outputs(self.task).length)
