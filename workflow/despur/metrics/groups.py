"""Accuracy by group: worst group, plain average, average weighted by training-group sizes."""

import numpy as np

from despur.store import Array


def group_accuracies(correct: Array, groups: Array) -> Array:
    """Accuracy in each group, (G,). ``correct`` bool (N,), ``groups`` bool (N,G), may overlap; NaN for a group without samples."""
    sizes = groups.sum(axis=0)
    hits = (groups & correct[:, None]).sum(axis=0)
    return np.where(sizes > 0, hits / np.maximum(sizes, 1), np.nan)


def worst_group_accuracy(correct: Array, groups: Array) -> float:
    """Smallest accuracy over the groups that have samples (1 - Eq. 1 of Zhang et al. 2022 for the 0-1 loss); NaN if none has.

    Samples in no group count nowhere.
    """
    return float(np.nanmin(group_accuracies(correct, groups))) if groups.any() else float("nan")


def weighted_average(correct: Array, groups: Array, train_sizes: Array) -> float:
    """Average of the accuracies of disjoint groups weighted by training-group sizes; groups without samples here are left out."""
    accuracy = group_accuracies(correct, groups)
    seen = ~np.isnan(accuracy)
    weights = train_sizes[seen]
    return float((accuracy[seen] * weights).sum() / weights.sum()) if weights.sum() else float("nan")
