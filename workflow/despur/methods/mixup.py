"""Mixup (Zhang et al. 2018): ERM on mixtures of two samples of a mini-batch and of their labels."""

import numpy as np
import torch

from despur.compute.transfer import to_device
from despur.methods.base import GradientMethod, Losses
from despur.methods.families.mixing import mixed_loss
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm(SUBPOPBENCH),
    "alpha": float_(
        0.2,
        "SubpopBench; Zhang et al.: .1 to .4 on ImageNet. Shares are Beta(alpha, alpha)",
        above=0,
        search=log_uniform(0.1, 10, "SubpopBench"),
    ),
}


class Mixup(GradientMethod):
    """Each sample is mixed with another one of its mini-batch, all with the same share."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Sec. 2; one share a mini-batch, as in their released code."""
        inputs, labels = self.task.batcher.batch(batch, rng), self.task.labels[batch]
        order = to_device(rng.permutation(len(batch)), self.task.device)
        share = torch.full((len(batch),), rng.beta(self.settings["alpha"], self.settings["alpha"])).to(inputs.device)
        return {"loss": mixed_loss(self.networks, (inputs, inputs[order]), (labels, labels[order]), share)}
