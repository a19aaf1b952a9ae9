"""As linear_classifier, but fitted by scikit-learn: an optimum without learning rate, schedule or epochs, in seconds
on a CPU.

Sec. 6.2 of Qiang et al. 2022 trains the layer by Adam. This method is for data where Adam takes longer than the
encoder."""

import numpy as np

from despur.methods.families.fitted import Affine, HeadMethod
from despur.numerics.linear import logistic
from despur.specs.declarations import read_declarations
from despur.specs.hyperparameters import criterion, on_stage1
from despur.specs.settings import float_
from despur.storage.store import Array

SETTINGS = {
    **on_stage1("simclr", "last", "Sec. 6.2: f is frozen after its training"),
    "strength": float_(1.0, "scikit-learn's C", above=0),
    "criterion": criterion("last", "there is only one step"),
    "neighbours": read_declarations("methods", "linear_classifier")["SETTINGS"]["neighbours"],
}


class LogisticClassifier(HeadMethod):
    """One logistic regression on all training samples."""

    def fit_head(self, x: Array, y: Array, rng: np.random.Generator) -> Affine:
        return logistic(x, y, self.task.num_classes, self.settings["strength"])
