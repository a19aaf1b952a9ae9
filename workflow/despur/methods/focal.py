"""Focal loss (Lin et al. 2017): cross-entropy in which samples that are easy weigh less."""

import numpy as np
import torch
from torch import nn

from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

REVISION = 2
SMALLEST = 1e-12  # probability of another class: where it is 0, a power below 1 has no finite slope
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
        sample_losses = nn.functional.cross_entropy(logits, self.task.labels[batch], reduction="none")
        others = -torch.expm1(-sample_losses)
        loss = (others.clamp(min=SMALLEST) ** self.settings["gamma"] * sample_losses).mean()
        return {"loss": loss, "mean_loss": sample_losses.mean().detach()}
