"""Focal loss (Lin et al. 2017): cross-entropy in which samples that are easy weigh less."""

import numpy as np
from torch import nn

from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import sgd
from despur.specs.settings import float_
from despur.storage.store import Array

SETTINGS = {
    **sgd(
        learning_rate=1e-3,
        momentum=0.9,
        weight_decay=5e-4,
        batch_size=32,
        epochs=100,
        source="the same for all methods in SubpopBench, tuned; here as ERM",
    ),
    "gamma": float_(2.0, "Lin et al., Sec. 3.2: works best; SubpopBench: 1. 0 is cross-entropy", at_least=0),
}


class Focal(GradientMethod):
    """Minimizes -(1 - p)^gamma log p, with p the probability of the right class."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Eq. 4, without weights of classes."""
        logits = self.forward(batch, rng).float()
        each = nn.functional.cross_entropy(logits, self.task.labels[batch], reduction="none")
        loss = ((1 - (-each).exp()) ** self.settings["gamma"] * each).mean()
        return {"loss": loss, "mean_loss": each.mean().detach()}
