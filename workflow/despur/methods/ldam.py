"""Label-distribution-aware margin loss, LDAM (Cao et al. 2019): the smaller a class, the larger its margin.

As in SubpopBench (Yang et al. 2023). Deviations from the paper: neither representations nor rows of the head are scaled
to length 1, and weights of classes do not set in late (DRW)."""

import numpy as np
from torch import nn

from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import float_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm(SUBPOPBENCH),
    "largest_margin": float_(
        0.5,
        "released code, SubpopBench: of the smallest class",
        at_least=0,
        search=log_uniform(0.1, 10**-0.1, "SubpopBench"),
    ),
    "scale": float_(
        30.0, "released code, SubpopBench: of all logits", above=0, search=log_uniform(10, 30, "SubpopBench: 10 or 30")
    ),
}


class LDAM(GradientMethod):
    """Cross-entropy of scaled logits, of which that of the right class is smaller by its margin C / n^(1/4)."""

    def setup(self) -> None:
        margin = np.bincount(self.task.y)[self.task.y] ** -0.25
        self.margin = self.task.per_sample((self.settings["largest_margin"] * margin / margin.max()).astype(np.float32))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Sec. 3.2: cross-entropy, after the margin of its class is subtracted from the logit of the true class."""
        logits, labels = self.forward(batch, rng).float(), self.task.labels[batch]
        right = nn.functional.one_hot(labels, logits.shape[1])
        return {
            "loss": nn.functional.cross_entropy(
                self.settings["scale"] * (logits - right * self.margin[batch][:, None]), labels
            )
        }
