"""What the nearest neighbours of a representation say of its class (Qiang et al. 2022, Sec. 6.2)."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from despur.storage.store import Array


def nearest_neighbours(train: Array, train_y: Array, test: Array, k: int) -> Array:
    """The most frequent class among the ``k`` nearest training representations (Euclidean; of equals the first class),
    (N,)."""
    return KNeighborsClassifier(min(k, len(train)), algorithm="brute").fit(train, train_y).predict(test)


def top_k_correct(logits: Array, y: Array, k: int) -> Array:
    """Whether the class is among the ``k`` with the largest logits, bool (N,). ``logits`` (N,C)."""
    own = np.take_along_axis(logits, y[:, None], axis=1)
    return (logits > own).sum(axis=1) < k
