"""Con^ft of Shen et al. 2021: an encoder that the contrastive losses alone train, then a logistic classifier on its representations."""

import numpy as np
import torch

from despur.linear import logistic
from despur.methods.base import Losses
from despur.methods.con import Con
from despur.settings import as_in, choice, flag, real
from despur.store import Array
from despur.task import encode

SETTINGS = {
    **as_in("methods", "con", "ratio"),
    "within": choice("batch", "Eq. 2, and the released code of this variant", "batch", "class"),
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
