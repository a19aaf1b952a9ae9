"""Contrastive learning for fair representations (Shen et al. 2021): representations of a class attract each other,
those of a protected attribute repel each other."""

import numpy as np
from torch import Tensor, nn

from despur.losses.fair_contrastive import fair_contrast
from despur.methods.base import GradientMethod, Losses
from despur.samplers.domains import domains
from despur.specs.hyperparameters import adam
from despur.specs.settings import bool_, choice, component, float_
from despur.storage.store import Array

# Learning rate, batch size, temperature and weights are in the paper's supplement, which we do not have. fairlib: the
# authors' later library.
SETTINGS = {
    **adam(
        learning_rate=3e-3,
        weight_decay=0.0,
        batch_size=1024,
        epochs=60,
        source="released code's grid; fairlib: 3e-3, 1024",
    ),
    "encoder": component("encoders", "mlp", "Experiments: two fully-connected layers of 300"),
    "groups": component("inference", "oracle", "the protected attribute"),
    "parts": choice("both", "Eq. 3; Fig. 3: cross-entropy with L_scl alone, or -L_fcl alone", "both", "scl", "fcl"),
    "ratio": float_(
        1.0,
        "beta / alpha; released code: w = 1 / (1 + ratio) weighs cross-entropy, 1 - w the rest; grid .01 to 100",
        at_least=0,
    ),
    "temperature": float_(0.01, "released code: tau", above=0),
    "within": choice("batch", "Eq. 2; released code (Moji, Bios, imSitu): L_fcl within each class", "batch", "class"),
    "divisor": choice("positives", "Eq. 2: |P(i)|; released code: 1 + |P(i)|", "positives", "positives_and_anchor"),
    "reduction": choice(
        "mean", "released code; Eq. 2 is a sum over the batch, which would need another ratio", "mean", "sum"
    ),
    "normalise": bool_(True, "Eq. 2; fairlib: false"),
}


class Con(GradientMethod):
    """Eq. 3 with alpha + beta = 1: w L_ce + (1 - w) (L_scl - L_fcl), w = 1 / (1 + beta / alpha)."""

    def setup(self) -> None:
        self.attribute = self.task.per_sample(domains(self.task.y, self.task.inferred))

    def contrast(self, z: Tensor, y: Tensor, a: Tensor) -> Losses:
        """L_scl - L_fcl of representations (B,D), classes and attributes (B,)."""
        s = self.settings
        unit = nn.functional.normalize(z.float()) if s["normalise"] else z.float()
        rules = {"parts": s["parts"], "within": s["within"], "mean": s["reduction"] == "mean"}
        plus = int(s["divisor"] == "positives_and_anchor")
        total, near, fair = fair_contrast(unit, y, a, s["temperature"], plus=plus, **rules)
        return {
            "loss": total,
            "similarity_in_class": near * s["temperature"],
            "similarity_in_attribute": fair * s["temperature"],
        }

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.encode(batch, rng)
        cross = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[batch])
        losses = self.contrast(z, self.task.labels[batch], self.attribute[batch])
        contrast, w = losses["loss"], 1 / (1 + self.settings["ratio"])
        return losses | {"loss": w * cross + (1 - w) * contrast, "cross_entropy": cross, "contrast": contrast}
