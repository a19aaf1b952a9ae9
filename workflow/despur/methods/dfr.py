"""Deep feature reweighting (Kirichenko et al. 2022): the representations of ERM, with the last layer fitted again to
groups of equal size.

On training data (their DFR_Tr^Tr), as in the released code: LIBLINEAR with an l1 penalty, also of the bias; the mean of
several fits; C is tuned. Deviation: the released code tunes C of DFR_Tr^Tr by the worst group of validation data, whose
groups no method sees here. So C is tuned as in its DFR_Tr^Val: fitted on one half of the samples, scored on the other.
The halves have equal shares of each group."""

import numpy as np

from despur.methods.families.domain_batches import number_groups
from despur.methods.families.fitted import Affine, HeadMethod
from despur.metrics.groups import worst_group_accuracy
from despur.numerics.linear import liblinear
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import choice, component, float_, int_
from despur.storage.store import Array

REVISION = 2  # LIBLINEAR, which penalizes the bias, and a tuned C
STRENGTHS = (1.0, 0.7, 0.3, 0.1, 0.07, 0.03, 0.01)  # released code; of equally good ones, the first
SETTINGS = {
    **on_stage1("erm", "last", "Sec. 4: a model trained by ERM; no early stopping"),
    "groups": component("inference", "oracle", "Sec. 6: together with the class, the groups that get equal sizes"),
    "penalty": choice("l1", "released code", "l1", "l2"),
    "strength": float_(
        0.0, "released code: C; 0: the best of 1, .7, .3, .1, .07, .03, .01 for the worst group", at_least=0
    ),
    "resample": choice("subsample", "Sec. 4; upsample: Zhang & Re 2022, Table 3", "subsample", "upsample"),
    "fits": int_(10, "released code (training data): fits on random group-balanced subsets, averaged", at_least=1),
}


def equal_groups(group: Array, rng: np.random.Generator, resample: str = "subsample") -> Array:
    """Rows in which each group has the size of the smallest one: a random subset. With ``upsample``, the size of the
    largest one: all rows, some repeated."""
    members = [rng.permutation(np.flatnonzero(group == value)) for value in np.unique(group)]
    size = (max if resample == "upsample" else min)(map(len, members))
    return np.concatenate([np.resize(rows, size) for rows in members])


def halve(group: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows of two random halves of each group; of an odd number, the first half has one more."""
    members = [rng.permutation(np.flatnonzero(group == value)) for value in np.unique(group)]
    first, second = zip(*(np.array_split(rows, 2) for rows in members), strict=True)
    return np.concatenate(first), np.concatenate(second)


class DFR(HeadMethod):
    """The mean of ``fits`` logistic regressions."""

    def number_groups(self) -> Array:
        """The groups that get equal sizes, (N,)."""
        return number_groups(self.task)

    def fit_once(self, x: Array, y: Array, strength: float) -> Affine:
        """One regression: weights (C,D) and biases (C,)."""
        return liblinear(x, y, self.task.num_classes, strength, self.settings["penalty"])

    def tune(self, x: Array, y: Array, group: Array, rng: np.random.Generator) -> float:
        """The C whose fit on equal groups of one half has the best worst group on the other half."""
        first, second = halve(group, rng)
        rows = first[equal_groups(group[first], rng, self.settings["resample"])]
        member = group[second][:, None] == np.unique(group)
        scores = []
        for strength in STRENGTHS:
            weight, bias = self.fit_once(x[rows], y[rows], strength)
            correct = (x[second] @ weight.T + bias).argmax(axis=1) == y[second]
            scores.append(float(worst_group_accuracy(correct, member)))
        return STRENGTHS[int(np.argmax(scores))]

    def fit_head(self, x: Array, y: Array, rng: np.random.Generator) -> Affine:
        s, group = self.settings, self.number_groups()
        strength = s["strength"] or self.tune(x, y, group, rng)
        subsets = [equal_groups(group, rng, s["resample"]) for _ in range(s["fits"])]
        self.found = {"samples_a_fit": len(subsets[0]), "strength": strength}
        fits = [self.fit_once(x[rows], y[rows], strength) for rows in subsets]
        weight, bias = (np.mean(values, axis=0) for values in zip(*fits, strict=True))
        return weight, bias
