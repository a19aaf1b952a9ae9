"""Accuracy by group: worst group, plain average, average weighted by training-group sizes.

``weights`` (...,N) count each sample so many times, for a bootstrap: every result gets these leading dimensions.
Default: once."""

import numpy as np

from despur.storage.store import Array


def mean(values: Array, weights: Array | None = None) -> Array:
    """Weighted mean of ``values`` (N,) or (N,K), (...) or (...,K); NaN where nothing has weight."""
    weights = np.ones(len(values)) if weights is None else weights
    total = weights.sum(axis=-1)
    total = total[..., None] if values.ndim > 1 else total
    return np.where(total > 0, weights @ values / np.maximum(total, 1e-12), np.nan)


def group_accuracies(correct: Array, groups: Array, weights: Array | None = None) -> Array:
    """Accuracy in each group, (...,G). ``correct`` bool (N,), ``groups`` bool (N,G), may overlap; NaN for a group
    without samples."""
    weights = np.ones(len(correct)) if weights is None else weights
    sizes, hits = weights @ groups.astype(float), weights @ (groups & correct[:, None]).astype(float)
    return np.where(sizes > 0, hits / np.maximum(sizes, 1), np.nan)


def worst_group_accuracy(correct: Array, groups: Array, weights: Array | None = None) -> Array:
    """Smallest accuracy over the groups that have samples (1 - Eq. 1 of Zhang et al. 2022 for the 0-1 loss), (...);
    NaN if none has.

    Samples in no group count nowhere.
    """
    accuracy = group_accuracies(correct, groups, weights)
    return np.fmin.reduce(accuracy, axis=-1)


def weighted_average(correct: Array, groups: Array, train_sizes: Array, weights: Array | None = None) -> Array:
    """Average of the accuracies of disjoint groups weighted by training-group sizes, (...); groups without samples are
    left out."""
    return averaged(group_accuracies(correct, groups, weights), train_sizes)


def averaged(each: Array, sizes: Array) -> Array:
    """Mean of values of groups (...,G) weighted by their ``sizes`` (G,), (...); groups without a value (NaN) are left
    out."""
    shares = np.where(np.isnan(each), 0, sizes)
    total = shares.sum(axis=-1)
    return np.where(total > 0, np.nansum(each * shares, axis=-1) / np.maximum(total, 1e-12), np.nan)
