"""Accuracies of groups, their minimum (worst group), and averages.

``weights`` (...,N) say how often each of N samples counts, for a bootstrap; by default once. Results have their leading
dimensions."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from despur.numerics.checks import read_classes, read_mask
from despur.storage.store import Array

Row = tuple[str, str, Any]  # of metrics.csv: metric, group, value: a number, or one for each row of weights


def lead(weights: Array | None) -> tuple[int, ...]:
    """The leading dimensions of ``weights``, which results have, too."""
    return () if weights is None else weights.shape[:-1]


def mean(values: Array, weights: Array | None = None) -> Array:
    """Weighted mean over samples of ``values`` (N,) or (N,K): (...) or (...,K). NaN if the weights sum to 0."""
    weights = np.ones(len(values)) if weights is None else weights
    total = weights.sum(axis=-1)
    total = total[..., None] if values.ndim > 1 else total
    return np.where(total > 0, weights @ values / np.maximum(total, 1e-12), np.nan)


def mean_of_defined(values: Array) -> Array:
    """Mean over the first dimension of ``values`` (K,...) that are not NaN: (...). NaN where all are."""
    with np.errstate(invalid="ignore"):
        return np.nansum(values, axis=0) / (~np.isnan(values)).sum(axis=0)


def one_hot(values: Array, count: int) -> csr_array:
    """Values (N,), whole numbers from 0 to ``count`` - 1, as rows of a unit matrix, sparse (N,count). Raises ValueError
    for others."""
    values = read_classes(values, count)
    return csr_array((np.ones(len(values)), values, np.arange(len(values) + 1)), shape=(len(values), count))


def group_accuracies(correct: Array, groups: Array, weights: Array | None = None) -> Array:
    """Accuracy of each group, a share, (...,G); NaN for a group without samples. ``correct`` bool (N,); ``groups`` bool
    (N,G), which may overlap; ``weights`` (...,N): how often each sample counts, by default once. Raises ValueError for
    other shapes or values.

    >>> import numpy as np
    >>> from despur.metrics import group_accuracies
    >>> correct, group = np.array([True, True, False, True]), np.array([0, 0, 1, 1])
    >>> group_accuracies(correct, group[:, None] == np.arange(3))
    array([1. , 0.5, nan])
    """
    correct, groups = read_mask(correct, "correct"), read_mask(groups, "groups")
    if correct.ndim != 1 or groups.ndim != 2 or len(groups) != len(correct):
        shapes = f"correct has the shape {correct.shape}, groups {groups.shape}"
        raise ValueError(f"{shapes}: give bool (N,), of each sample, and bool (N,G), a column for each group")
    weights = np.ones(len(correct)) if weights is None else weights
    sizes, hits = weights @ groups.astype(float), weights @ (groups & correct[:, None]).astype(float)
    return np.where(sizes > 0, hits / np.maximum(sizes, 1e-12), np.nan)


def worst_group_accuracy(correct: Array, groups: Array, weights: Array | None = None) -> Array:
    """Smallest accuracy of the groups with samples, a share, (...): 1 - Eq. 1 of Zhang et al. 2022 for the 0-1 loss.
    NaN if no group has samples. Samples in no group do not count. Arguments as in :func:`group_accuracies`.

    >>> import numpy as np
    >>> from despur.metrics import worst_group_accuracy
    >>> correct, group = np.array([True, True, False, True]), np.array([0, 0, 1, 1])
    >>> float(worst_group_accuracy(correct, group[:, None] == np.arange(2)))
    0.5
    """
    return np.fmin.reduce(group_accuracies(correct, groups, weights), axis=-1)


def weighted_average(correct: Array, groups: Array, train_sizes: Array, weights: Array | None = None) -> Array:
    """Mean accuracy of disjoint groups, weighted by ``train_sizes`` (G,), their numbers of training samples, (...).
    Groups without samples are left out. Other arguments as in :func:`group_accuracies`. So Sagawa et al. 2020 average
    on Waterbirds.

    >>> import numpy as np
    >>> from despur.metrics import weighted_average
    >>> correct, group = np.array([True, True, False, True]), np.array([0, 0, 1, 1])
    >>> float(weighted_average(correct, group[:, None] == np.arange(2), np.array([90, 10])))
    0.95
    """
    return average_groups(group_accuracies(correct, groups, weights), train_sizes)


def average_groups(values: Array, sizes: Array) -> Array:
    """Mean over groups of their ``values`` (...,G), weighted by their ``sizes`` (G,), (...). Groups without a value
    (NaN) are left out.

    >>> import numpy as np
    >>> from despur.metrics import average_groups
    >>> float(average_groups(np.array([1.0, 0.5, np.nan]), np.array([90, 10, 5])))
    0.95
    """
    shares = np.where(np.isnan(values), 0, sizes)
    total = shares.sum(axis=-1)
    return np.where(total > 0, np.nansum(values * shares, axis=-1) / np.maximum(total, 1e-12), np.nan)
