"""Predictions by nearest neighbours, and top-k accuracy (Qiang et al. 2022, Sec. 6.2)."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from despur.storage.store import Array


def predict_by_neighbors(train: Array, train_y: Array, test: Array, k: int) -> Array:
    """The most frequent class of the ``k`` nearest training representations, (N,); of several, the lowest.

    ``train`` (M,D), ``train_y`` (M,), ``test`` (N,D). Euclidean distances; ``k`` is at most M."""
    return KNeighborsClassifier(min(k, len(train)), algorithm="brute").fit(train, train_y).predict(test)


def top_k_correct(logits: Array, y: Array, k: int) -> Array:
    """Whether the class is among the ``k`` classes with the largest logits, bool (N,). ``logits`` (N,C), ``y`` (N,)."""
    of_class = np.take_along_axis(logits, y[:, None], axis=1)
    return (logits > of_class).sum(axis=1) < k
