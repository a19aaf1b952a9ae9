"""Spectral decoupling (Pezeshki et al. 2021): logits are penalized in the place of weights, so that one feature does
not suppress the others.

Zhang et al. 2022 name it (App. D.1) and do not run it."""

import numpy as np
from torch import nn

from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm("Zhang et al. do not run it; as their other methods, App. E.2.5 (CMNIST*)"),
    "weight_decay": float_(0.0, "Pezeshki et al.: the penalty of logits stands in its place", at_least=0),
    "lambda": float_(
        0.1,
        "Pezeshki et al., a toy: to be tuned; their released Colored MNIST run has, on this scale, 4 (a penalty of one "
        "logit that weighs as much as cross-entropy, from step 450 on)",
        at_least=0,
        search=log_uniform(1e-5, 10, "DomainBed up to .1, of a penalty 2 / C times as large; beyond, as released"),
    ),
}


class SpectralDecoupling(GradientMethod):
    """ERM with lambda / 2 times the squared norm of the logits."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits = self.forward(batch, rng).float()
        cross = nn.functional.cross_entropy(logits, self.task.labels[batch])
        penalty = logits.square().sum(dim=1).mean() / 2
        return {"loss": cross + self.settings["lambda"] * penalty, "cross_entropy": cross, "penalty": penalty}
