"""Group fairness: true-positive-rate gap, and what a linear attacker reads off (Shen et al. 2021, Sec. 4)."""

import numpy as np
from sklearn.svm import LinearSVC

from despur.metrics.groups import group_accuracies, mean
from despur.store import Array


def tpr_gap(predicted: Array, y: Array, a: Array, weights: Array | None = None) -> Array:
    """Root mean square over classes of the difference in true positive rate between attribute values (Eq. 4), (...).

    With more than two attribute values: the largest minus the smallest. A class that fewer than two attribute values
    have is left out; NaN if that leaves none. ``weights`` (...,N): how often each sample counts, by default once.
    """
    weights = np.ones(len(y)) if weights is None else weights
    gaps = []
    for label in np.unique(y):
        cells = np.stack([(y == label) & (a == value) for value in np.unique(a[y == label])], axis=1)
        if cells.shape[1] > 1:
            rates = group_accuracies(predicted == label, cells, weights)
            gaps.append(np.nanmax(rates, axis=-1) - np.nanmin(rates, axis=-1))
    return np.sqrt(np.mean(np.square(gaps), axis=0)) if gaps else np.full(weights.shape[:-1], np.nan)


def leakage(train: Array, train_a: Array, test: Array, test_a: Array, weights: Array | None = None) -> Array:
    """Accuracy of a linear SVM that is fitted on training features (N,D) to tell the attribute, on test features; (...).

    ``weights`` (...,N): how often each test sample counts, by default once.
    """
    if len(np.unique(train_a)) < 2:
        return np.full(() if weights is None else weights.shape[:-1], np.nan)
    attacker = LinearSVC(C=0.1, class_weight="balanced", dual=False, max_iter=10_000, random_state=0)  # released code
    return mean((attacker.fit(train, train_a).predict(test) == test_a).astype(float), weights)
