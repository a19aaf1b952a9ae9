"""Group fairness: true-positive-rate gap, what an attacker reads off, and both with accuracy in one number (Shen et
al. 2021, Sec. 4)."""

import numpy as np
from sklearn.kernel_approximation import Nystroem

from despur.metrics.groups import group_accuracies, mean
from despur.numerics.linear import support_vectors
from despur.storage.store import Array


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
            gaps.append(np.fmax.reduce(rates, axis=-1) - np.fmin.reduce(rates, axis=-1))
    return np.sqrt(np.mean(np.square(gaps), axis=0)) if gaps else np.full(weights.shape[:-1], np.nan)


def leakage(
    train: Array, train_a: Array, test: Array, test_a: Array, weights: Array | None = None, strength: float = 0.1
) -> Array:
    """Accuracy of a linear SVM that is fitted on training features (N,D) to tell the attribute, on test features;
    (...).

    ``weights`` (...,N): how often each test sample counts, by default once. NaN if training samples have one value
    only."""
    if len(np.unique(train_a)) < 2:
        return np.full(() if weights is None else weights.shape[:-1], np.nan)
    values, normals, biases = support_vectors(train, train_a, strength)
    return mean((values[(test @ normals.T + biases).argmax(axis=1)] == test_a).astype(float), weights)


def nonlinear_leakage(
    train: Array, train_a: Array, test: Array, test_a: Array, weights: Array | None = None, landmarks: int = 300
) -> Array:
    """As :func:`leakage`, for the attacker that the paper names as its limit: an SVM with an RBF kernel of the
    features' own width.

    The kernel is approximated at ``landmarks`` training samples (Nystroem), since it must be fitted to every run. What
    they miss of many dimensions, a linear kernel of the same width has: the attacker is about as strong as the linear
    one, at least."""
    gamma, mean = 1 / max(float(train.var()) * train.shape[1], 1e-12), train.mean(axis=0)
    kernel = Nystroem(gamma=gamma, n_components=min(landmarks, len(train)), random_state=0).fit(train)
    fitted, tested = (np.hstack([kernel.transform(x), np.sqrt(gamma) * (x - mean)]) for x in (train, test))
    return leakage(fitted, train_a, tested, test_a, weights, strength=10)


def tradeoff(accuracy: Array, gap: Array, leakage_representations: Array, leakage_logits: Array) -> Array:
    """Tradeoff of each of the models (M,...) that are compared on a data set, all as shares: 1 is best in everything.

    Half accuracy, a quarter 1 - GAP, an eighth 1 - each leakage, each divided by the largest of the models.
    """
    parts = np.stack([accuracy, 1 - gap, 1 - leakage_representations, 1 - leakage_logits])
    return np.tensordot([1 / 2, 1 / 4, 1 / 8, 1 / 8], parts / parts.max(axis=1, keepdims=True), 1)
