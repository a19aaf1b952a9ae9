"""Linear probe (Sec. 3.2 of Zhang & Re 2022): a linear classifier on a foundation model's embeddings, trained by ERM.

Embeddings have length 1 here; in the released code, the length that the encoder gives them, l: which is l^2 times the learning rate.
"""

from torch import nn

from despur.families.embeddings import Unchanged
from despur.methods.base import Method
from despur.settings import on_embeddings
from despur.spec import Spec

SETTINGS = {**on_embeddings("released code; the paper's appendix is missing")}


class LinearProbe(Method):
    """f(u) = W u + b, on cross-entropy."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Unchanged(dim), "head": nn.Linear(dim, num_classes)})
