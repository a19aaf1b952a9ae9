"""Label-distribution-aware margin loss, LDAM (Cao et al. 2019): the smaller a class, the larger its margin.

As in SubpopBench (Yang et al. 2023). Deviations from the paper: neither representations nor rows of the head are scaled
to length 1, and weights of classes do not set in late (DRW)."""

import numpy as np
import torch

from despur.losses.cross_entropy import ldam
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
        sizes = np.bincount(self.task.y, minlength=self.task.num_classes)
        self.class_sizes = torch.from_numpy(sizes).to(self.task.device)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits, labels, s = self.forward(batch, rng), self.task.labels[batch], self.settings
        return {"loss": ldam(logits, labels, self.class_sizes, s["largest_margin"], s["scale"])}
