"""Con^ft of Shen et al. 2021: an encoder that the contrastive losses alone train, then a logistic classifier on its representations."""

import numpy as np
import torch

from despur.linear import logistic
from despur.methods.base import Losses
from despur.methods.con import Con
from despur.settings import adam, choice, flag, part, real
from despur.store import Array
from despur.task import encode

SETTINGS = {
    **adam(learning_rate=3e-3, weight_decay=0.0, batch_size=1024, epochs=60, source="as con"),
    "encoder": part("encoders", "mlp", "as con"),
    "groups": part("inference", "oracle", "as con"),
    "parts": choice("both", "as con", "both", "scl", "fcl"),
    "temperature": real(0.01, "as con", above=0),
    "within": choice("batch", "Eq. 2, and the released code of this variant", "batch", "class"),
    "divisor": choice("positives", "as con", "positives", "positives_and_anchor"),
    "reduction": choice("mean", "as con", "mean", "sum"),
    "normalise": flag(True, "as con"),
    "strength": real(1.0, "released code: C of the logistic regression", above=0),
    "intercept": flag(False, "released code"),
}


class ConFT(Con):
    """L_scl - L_fcl trains the encoder; the classifier is fitted to all training samples before each evaluation.

    The released code stops early on the loss of a classifier that was never trained; here, on the one that will predict.
    """

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        return self.contrast(self.networks["encoder"](self.task.presentation.view(batch, rng)), batch)

    def settle(self, rng: np.random.Generator) -> None:
        s, task = self.settings, self.task
        z = encode(self.networks["encoder"], None, task.presentation, rng)["z"].astype(np.float32)
        found = logistic(z, task.y, task.num_classes, s["strength"], intercept=s["intercept"])
        weights = {name: torch.from_numpy(np.array(value)) for name, value in zip(("weight", "bias"), found, strict=True)}
        self.networks["head"].load_state_dict(weights)
