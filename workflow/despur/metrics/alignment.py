"""How close the groups of a class lie in the space of representations (Zhang et al. 2022, Sec. 3; cosines: Zhang &
Re 2022, Sec. 4.1)."""

from itertools import combinations

import numpy as np
from scipy.spatial.distance import cdist

from despur.metrics.groups import lead, mean, mean_of_defined
from despur.numerics.checks import read_attribute
from despur.storage.store import Array

ROWS = 2000  # the most samples of a group that enter a mean over pairs; they are evenly spaced


def _groups(z: Array, a: Array, weights: Array | None) -> list[tuple[Array, Array]]:
    """Representations and weights of at most ``ROWS`` samples of each group. Raises ValueError for a group below 0,
    which is not known."""
    weights = np.ones(len(z)) if weights is None else weights
    groups, a = [], read_attribute(a)
    for value in np.unique(a):
        members = np.flatnonzero(a == value)
        rows = members[np.linspace(0, len(members) - 1, min(len(members), ROWS)).astype(int)]
        groups.append((z[rows], weights[..., rows]))
    return groups


def alignment_loss(z: Array, a: Array, weights: Array | None = None) -> Array:
    """Eq. 4-5 for one class, (...): the largest of the mean Euclidean distances between two groups; NaN for one group.
    Of a group with more samples than ``ROWS``, so many evenly spaced ones are used.

    ``z`` (N,D); ``a`` (N,) names the groups; ``weights`` (...,N): how often each sample counts, by default once.

    >>> import numpy as np
    >>> from despur.metrics import alignment_loss
    >>> float(alignment_loss(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]), np.array([0, 1, 1])))
    3.0
    """
    distances = []
    for (first, left), (second, right) in combinations(_groups(z, a, weights), 2):
        pairs = left.sum(axis=-1) * right.sum(axis=-1)
        total = (left @ cdist(first, second) * right).sum(axis=-1)
        distances.append(np.where(pairs > 0, total / np.maximum(pairs, 1e-12), np.nan))
    return np.fmax.reduce(np.reshape(distances, (-1, *lead(weights))), axis=0, initial=np.nan)


def released_alignment_loss(z: Array, a: Array, majority: int) -> tuple[float, int]:
    """The variant of the released code for one class: the mean squared distance between samples of the majority group
    and all others, each of the two matrices divided by its Frobenius norm; NaN if one of them is empty. With the number
    of pairs, by which the released code weights the mean over classes.

    ``z`` (N,D), ``a`` (N,), ``majority``: the value of ``a`` of the majority group."""
    sides = [z[a == majority], z[a != majority]]
    if not all(map(len, sides)):
        return float("nan"), 0
    first, second = (side / max(float(np.linalg.norm(side)), 1e-12) for side in sides)
    squared = (first**2).sum(1).mean() + (second**2).sum(1).mean() - 2 * first.mean(0) @ second.mean(0)
    return float(squared), len(first) * len(second)


def cosine_similarity(z: Array, a: Array, weights: Array | None = None) -> Array:
    """Mean cosine similarity between samples of different groups of one class, mean over pairs of groups, (...); NaN
    for one group. Of a group with more samples than ``ROWS``, so many evenly spaced ones are used (Zhang & Re
    2022, Sec. 4.1).

    ``z`` (N,D); ``a`` (N,) names the groups; ``weights`` (...,N): how often each sample counts, by default once.

    >>> import numpy as np
    >>> from despur.metrics import cosine_similarity
    >>> float(cosine_similarity(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 0.0]]), np.array([0, 1, 1])))
    0.5
    """
    means = [
        mean(members / np.maximum(np.linalg.norm(members, axis=1, keepdims=True), 1e-12), counts)
        for members, counts in _groups(z.astype(np.promote_types(z.dtype, np.float32), copy=False), a, weights)
    ]
    values = [(first * second).sum(axis=-1) for first, second in combinations(means, 2)]
    return mean_of_defined(np.reshape(values, (-1, *lead(weights))))
