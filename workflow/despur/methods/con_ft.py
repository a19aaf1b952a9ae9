"""Con^ft of Shen et al. 2021: the contrastive losses alone train the encoder, then a logistic classifier is fitted
to its representations."""

import numpy as np
from torch import Tensor

from despur.compute.task import encode
from despur.methods.base import Losses
from despur.methods.con import Con
from despur.methods.families.fitted import load_affine
from despur.numerics.linear import logistic
from despur.specs.declarations import read_declarations
from despur.specs.settings import bool_, choice, float_, without
from despur.storage.store import Array

# No criterion: there is no classifier before training has ended. The loss decides which step is best and when to stop.
SETTINGS = {
    **without(read_declarations("methods", "con")["SETTINGS"], "ratio", "criterion"),
    "within": choice("batch", "Eq. 2, and the released code of this variant", "batch", "class"),
    "strength": float_(1.0, "released code: C of the logistic regression", above=0),
    "intercept": bool_(False, "released code"),
}


class ConFT(Con):
    """L_scl - L_fcl trains the encoder ("we first train the Enc module"); the classifier is fitted once, to all
    training samples.

    Deviation: training stops early on L_scl - L_fcl of validation data. The released code uses the loss of a
    classifier that was never trained."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.encode(batch, rng)
        return self.contrast(z, self.task.labels[batch], self.attribute[batch])

    def objective(self, z: Tensor, y: Tensor, a: Tensor) -> Tensor:
        return self.contrast(z, y, a)["loss"]

    def on_train_end(self, rng: np.random.Generator) -> None:
        s, task = self.settings, self.task
        z = encode(self.networks["encoder"], None, task.batcher, rng)["z"].astype(np.float32)
        fitted = logistic(z, task.y, task.num_classes, s["strength"], intercept=s["intercept"])
        load_affine(self.networks["head"], fitted)
