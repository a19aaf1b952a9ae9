"""WiSE-FT (Wortsman et al. 2022; Sec. 5.1 of Zhang & Re 2022): an ensemble of a linear probe and the zero-shot
classifier.

In weight space: W = (1 - alpha) W_probe + alpha W_zero-shot / tau. On fixed embeddings that is the same as a mixture
of logits, which the released code computes. In output space: a mixture of probabilities.

The probe is trained and its step selected alone, as ``linear_probe``; then the two are mixed. Validation data select
alpha: sweep it, and the probe is trained once."""

import numpy as np
import torch
from torch import Tensor, nn

from despur.encoders.identity import Identity
from despur.methods.base import GradientMethod, Losses
from despur.methods.families.embeddings import Probe, freeze, stage1_outputs
from despur.specs.declarations import read_declarations
from despur.specs.settings import choice, float_
from despur.specs.spec import Spec
from despur.storage.store import Array

REVISION = 2  # the probe's step is selected before it is mixed
SETTINGS = {
    **read_declarations("methods", "linear_probe")["SETTINGS"],
    "alpha": float_(
        0.5,
        "weight of the zero-shot classifier; Wortsman et al.: 0, .1, ..., 1, and .5 without selection",
        at_least=0,
        at_most=1,
    ),
    "space": choice(
        "weight", "released code: a mixture of logits, which is the same; Sec. 5.1: outputs", "weight", "output"
    ),
    "temperature": float_(0.01, "released code: tau of the zero-shot classifier", above=0),
}


class Ensemble(nn.Module):
    """Logits (B,C) of two linear classifiers on embeddings (B,D): ``probe`` and ``zero_shot``. ``alpha``, the weight of
    the latter, is 0 in training."""

    def __init__(self, dim: int, num_classes: int, space: str) -> None:
        super().__init__()
        self.probe, self.zero_shot = Probe(dim, num_classes), nn.Linear(dim, num_classes, bias=False)
        self.space = space
        self.register_buffer("alpha", torch.zeros(()))

    def forward(self, embeddings: Tensor) -> Tensor:
        probe, zero_shot, alpha = self.probe(embeddings), self.zero_shot(embeddings), self.get_buffer("alpha")
        if self.space == "weight":
            return (1 - alpha) * probe + alpha * zero_shot
        return torch.log((1 - alpha) * probe.softmax(1) + alpha * zero_shot.softmax(1))


class WiSEFT(GradientMethod):
    """ERM trains the probe; once its step is selected, the ensemble predicts."""

    SET_AFTER_TRAINING = ("alpha", "space")

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,), s = shape, spec.settings
        return nn.ModuleDict({"encoder": Identity(dim), "head": Ensemble(dim, num_classes, s["space"])})

    @property
    def ensemble(self) -> Ensemble:
        head = self.networks["head"]
        assert isinstance(head, Ensemble)
        return head

    def setup(self) -> None:
        stage1 = stage1_outputs(self.task)
        freeze(self.ensemble.zero_shot, stage1.head / self.settings["temperature"])
        self.ensemble.probe.get_buffer("length").fill_(stage1.length)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits = self.ensemble.probe(self.task.batcher.batch(batch, rng))
        return {"loss": nn.functional.cross_entropy(logits, self.task.labels[batch])}

    def on_train_end(self, rng: np.random.Generator) -> None:
        self.ensemble.get_buffer("alpha").fill_(self.settings["alpha"])
