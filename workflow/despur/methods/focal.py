"""Focal loss (Lin et al. 2017): cross-entropy in which samples that are easy weigh less."""

import numpy as np
from torch import nn

from despur.losses.cross_entropy import focal
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

REVISION = 2
SETTINGS = {
    **as_erm(SUBPOPBENCH),
    "gamma": float_(
        2.0,
        "Lin et al., Sec. 3.2: works best; SubpopBench: 1. 0 is cross-entropy",
        at_least=0,
        search=log_uniform(0.5, 5, "SubpopBench"),
    ),
}


class Focal(GradientMethod):
    """Minimizes -(1 - p)^gamma log p, with p the probability of the right class."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Eq. 4, without weights of classes."""
        logits = self.forward(batch, rng).float()
        labels = self.task.labels[batch]
        mean_loss = nn.functional.cross_entropy(logits, labels, reduction="none").mean()
        return {"loss": focal(logits, labels, self.settings["gamma"]), "mean_loss": mean_loss}
