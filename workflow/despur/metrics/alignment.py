"""How close a class's groups lie in representation space (Sec. 3 of Zhang et al. 2022)."""

from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from despur.store import Array

ROWS = 2000  # at most so many samples of a group enter a pairwise mean


def _groups(z: Array, a: Array) -> list[Array]:
    return [z[a == value][:ROWS] for value in np.unique(a)]


def alignment_loss(z: Array, a: Array) -> float:
    """Eq. 4-5 for the representations (N,D) of one class: the largest mean Euclidean distance between two groups; NaN for one group."""
    distances = [float(cdist(first, second).mean()) for first, second in combinations(_groups(z, a), 2)]
    return max(distances, default=float("nan"))


def released_alignment_loss(z: Array, a: Array, majority: int) -> float:
    """The released code's variant for one class: majority against all minority groups, each matrix divided by its
    Frobenius norm, mean squared distance over pairs; NaN where one side is empty."""
    sides = [z[a == majority], z[a != majority]]
    if not all(map(len, sides)):
        return float("nan")
    first, second = (side / max(float(np.linalg.norm(side)), 1e-12) for side in sides)
    return float((first**2).sum(1).mean() + (second**2).sum(1).mean() - 2 * first.mean(0) @ second.mean(0))


def cosine_similarity(z: Array, a: Array) -> float:
    """Mean cosine similarity between samples of different groups of one class, averaged over pairs of groups; NaN for one group."""
    means = [(part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12)).mean(axis=0) for part in _groups(z, a)]
    values = [float(first @ second) for first, second in combinations(means, 2)]
    return float(np.mean(values)) if values else float("nan")
