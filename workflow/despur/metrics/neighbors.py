"""Predictions by nearest neighbors (Qiang et al. 2022, Sec. 6.2)."""

from sklearn.neighbors import KNeighborsClassifier

from despur.storage.store import Array


def predict_by_neighbors(train: Array, train_y: Array, test: Array, k: int) -> Array:
    """The most frequent class of the ``k`` nearest training representations, (N,); of several, the lowest.

    ``train`` (M,D), ``train_y`` (M,), ``test`` (N,D). Euclidean distances; ``k`` is at most M."""
    return KNeighborsClassifier(min(k, len(train)), algorithm="brute").fit(train, train_y).predict(test)
