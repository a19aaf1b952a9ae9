"""Deep feature reweighting (Kirichenko et al. 2022): the representations of ERM, with the last layer fitted again to
groups of equal size.

On training data (their DFR_Tr^Tr). Their better variant, DFR_Tr^Val, uses held-out data with known groups, which no
method has here."""

import numpy as np

from despur.methods.families.fitted import Affine, AffineMethod
from despur.numerics.linear import logistic
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import choice, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **on_stage1("erm", "last", "Sec. 4: a model trained by ERM; no early stopping"),
    "groups": component("inference", "oracle", "Sec. 6: together with the class, the groups that get equal sizes"),
    "penalty": choice("l1", "released code", "l1", "l2"),
    "strength": float_(1.0, "released code: C, tuned over 1, .7, .3, .1, .07, .03, .01", above=0),
    "resample": choice("subsample", "Sec. 4; upsample: Zhang & Re 2022, Table 3", "subsample", "upsample"),
    "fits": int_(10, "released code (training data): fits on random group-balanced subsets, averaged", at_least=1),
}


def equal_groups(group: Array, rng: np.random.Generator, resample: str = "subsample") -> Array:
    """Rows in which each group has the size of the smallest one: a random subset. With ``upsample``, the size of the
    largest one: all rows, some repeated."""
    members = [rng.permutation(np.flatnonzero(group == value)) for value in np.unique(group)]
    size = (max if resample == "upsample" else min)(map(len, members))
    return np.concatenate([np.resize(rows, size) for rows in members])


class DFR(AffineMethod):
    """The map is the identity. The head is the mean of ``fits`` logistic regressions on standardized
    representations."""

    def number_groups(self, y: Array, groups: Array) -> Array:
        """The groups that get equal sizes, (N,)."""
        return y * (int(groups.max()) + 1) + groups

    def fit_maps(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        s = self.settings
        assert self.task.inferred_attribute is not None
        mean, scale = z.mean(axis=0), np.maximum(z.std(axis=0), 1e-6)
        group = self.number_groups(y, self.task.inferred_attribute)
        subsets = [equal_groups(group, rng, s["resample"]) for _ in range(s["fits"])]
        self.found = {"samples_a_fit": len(subsets[0])}
        each = [
            logistic((z[rows] - mean) / scale, y[rows], self.task.num_classes, s["strength"], s["penalty"])
            for rows in subsets
        ]
        weight, bias = (np.mean(values, axis=0) for values in zip(*each, strict=True))
        weight = weight / scale
        return (np.eye(z.shape[1]), np.zeros(z.shape[1])), (weight, bias - weight @ mean)
