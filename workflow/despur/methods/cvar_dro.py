"""CVaR distributionally robust optimization (Levy et al. 2020): the mean loss of the worst samples of each
mini-batch."""

import numpy as np
from torch import nn

from despur.losses.cross_entropy import cvar
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*): as JTT"),
    "alpha": float_(
        0.1,
        "App. E.2.5: share of a mini-batch that counts",
        above=0,
        at_most=1,
        search=log_uniform(0.01, 1, "SubpopBench"),
    ),
}


class CVaRDRO(GradientMethod):
    """Minimizes the CVaR of each mini-batch."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits = self.forward(batch, rng)
        sample_losses = nn.functional.cross_entropy(logits.float(), self.task.labels[batch], reduction="none")
        return {"loss": cvar(sample_losses, self.settings["alpha"]), "mean_loss": sample_losses.mean()}
