"""Predictions by nearest neighbors (Qiang et al. 2022, Sec. 6.2)."""

from sklearn.neighbors import KNeighborsClassifier

from despur.storage.store import Array


def predict_by_neighbors(train: Array, train_y: Array, test: Array, k: int) -> Array:
    """The most frequent class of the ``k`` nearest training representations, (N,); of several, the lowest (Qiang et al.
    2022, Sec. 6.2).

    ``train`` (M,D), ``train_y`` (M,), ``test`` (N,D). Euclidean distances; ``k`` is at most M.

    >>> import numpy as np
    >>> from despur.metrics import predict_by_neighbors
    >>> predict_by_neighbors(np.array([[0.0], [1.0], [9.0]]), np.array([0, 0, 1]), np.array([[0.4], [8.0]]), k=1)
    array([0, 1])
    """
    return KNeighborsClassifier(min(k, len(train)), algorithm="brute").fit(train, train_y).predict(test)
