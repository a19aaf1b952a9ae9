"""How close a class's groups lie in representation space (Sec. 3 of Zhang et al. 2022)."""

from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from despur.metrics.groups import mean
from despur.storage.store import Array

ROWS = 2000  # at most so many samples of a group, evenly spaced, enter a pairwise mean


def _groups(z: Array, a: Array, weights: Array | None) -> list[tuple[Array, Array]]:
    """Representations and weights of each group."""
    weights = np.ones(len(z)) if weights is None else weights
    rows = [np.flatnonzero(a == value) for value in np.unique(a)]
    rows = [own[np.linspace(0, len(own) - 1, min(len(own), ROWS)).astype(int)] for own in rows]
    return [(z[r], weights[..., r]) for r in rows]


def alignment_loss(z: Array, a: Array, weights: Array | None = None) -> Array:
    """Eq. 4-5 for the representations (N,D) of one class: the largest mean Euclidean distance between two groups; NaN
    for one group.

    ``weights`` (...,N): how often each sample counts, by default once; the result is (...).
    """
    found = []
    for (first, left), (second, right) in combinations(_groups(z, a, weights), 2):
        pairs = left.sum(axis=-1) * right.sum(axis=-1)
        total = (left @ cdist(first, second) * right).sum(axis=-1)
        found.append(np.where(pairs > 0, total / np.maximum(pairs, 1), -np.inf))
    if not found:
        return np.full(() if weights is None else weights.shape[:-1], np.nan)
    largest = np.max(found, axis=0)
    return np.where(np.isfinite(largest), largest, np.nan)


def released_alignment_loss(z: Array, a: Array, majority: int) -> float:
    """The released code's variant for one class: majority against all minority groups, each matrix divided by its
    Frobenius norm, mean squared distance over pairs; NaN where one side is empty."""
    sides = [z[a == majority], z[a != majority]]
    if not all(map(len, sides)):
        return float("nan")
    first, second = (side / max(float(np.linalg.norm(side)), 1e-12) for side in sides)
    return float((first**2).sum(1).mean() + (second**2).sum(1).mean() - 2 * first.mean(0) @ second.mean(0))


def cosine_similarity(z: Array, a: Array, weights: Array | None = None) -> Array:
    """Mean cosine similarity between samples of different groups of one class, averaged over pairs of groups; NaN for
    one group.

    ``weights`` (...,N): how often each sample counts, by default once; the result is (...).
    """
    means = [
        mean(part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12), own)
        for part, own in _groups(z, a, weights)
    ]
    values = [(first * second).sum(axis=-1) for first, second in combinations(means, 2)]
    return np.mean(values, axis=0) if values else np.full(() if weights is None else weights.shape[:-1], np.nan)
