"""Class-balanced loss (Cui et al. 2019): cross-entropy in which samples of small classes weigh more.

``reweight`` weighs groups in the same ways."""

import numpy as np
from torch import nn

from despur.methods.base import GradientMethod, Losses
from despur.methods.families.domain_batches import number_groups
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.specs.settings import choice, float_, log_to_one
from despur.storage.store import Array

SETTINGS = {
    **as_erm(SUBPOPBENCH),
    "weighting": choice(
        "effective",
        "Cui et al., Sec. 3; inverse: one over the size; square_root: one over its root",
        "effective",
        "inverse",
        "square_root",
    ),
    "beta": float_(
        0.9999,
        "of weighting=effective: SubpopBench; Cui et al. tune .9 to .9999",
        above=0,
        below=1,
        search=log_to_one(0.99, 0.99999, "SubpopBench"),
    ),
}


def weigh_groups(sizes: Array, weighting: str, beta: float) -> Array:
    """The weight of a sample of each group, (G,), with the mean 1 over groups. ``sizes``: of groups, (G,).

    ``effective``: (1 - beta) / (1 - beta^n), one over the effective number of samples (Cui et al., Prop. 1);
    ``inverse``: 1 / n; ``square_root``: 1 / sqrt(n)."""
    weights = {
        "effective": (1 - beta) / -np.expm1(sizes * np.log(beta)),
        "inverse": 1 / sizes,
        "square_root": 1 / np.sqrt(sizes),
    }[weighting]
    return weights / weights.mean()


class CBLoss(GradientMethod):
    """Sec. 4 with the softmax: the mean over the batch of each sample's weight times its cross-entropy."""

    def setup(self) -> None:
        group = number_groups(self.task)
        weights = weigh_groups(np.bincount(group), self.settings["weighting"], self.settings["beta"])
        self.weight = self.task.per_sample(weights[group].astype(np.float32))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits = self.forward(batch, rng).float()
        losses = nn.functional.cross_entropy(logits, self.task.labels[batch], reduction="none")
        return {"loss": (self.weight[batch] * losses).mean(), "mean_loss": losses.mean()}
