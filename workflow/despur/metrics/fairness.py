"""Group fairness: the gap in true positive rates, leakage of the attribute, and their trade-off with accuracy (Shen et
al. 2021, Evaluation Metrics)."""

import numpy as np
from sklearn.kernel_approximation import Nystroem

from despur.metrics.groups import group_accuracies, lead, mean, mean_of_defined, one_hot
from despur.numerics.checks import read_attribute
from despur.numerics.linear import support_vectors
from despur.storage.store import Array


def tpr_gaps(predicted: Array, y: Array, a: Array, weights: Array | None = None) -> Array:
    """Difference in true positive rate between attribute values of each class that has at least two, (K,...) (Shen et
    al. 2021, Evaluation Metrics).

    ``predicted``, ``y``, ``a``: (N,). For more than two attribute values: the largest rate minus the smallest.
    ``weights`` (...,N): how often each sample counts, by default once. Raises ValueError for an attribute below 0,
    which is not known.

    >>> import numpy as np
    >>> from despur.metrics import tpr_gaps
    >>> predicted, y, a = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> tpr_gaps(predicted, y, a)
    array([1., 0.])
    """
    weights = np.ones(len(y)) if weights is None else weights
    predicted, y, a, gaps = np.asarray(predicted), np.asarray(y), read_attribute(a), []
    for label in np.unique(y):
        groups = np.stack([(y == label) & (a == value) for value in np.unique(a[y == label])], axis=1)
        if groups.shape[1] > 1:
            gaps.append(spread(group_accuracies(predicted == label, groups, weights)))
    return np.stack(gaps) if gaps else np.empty((0, *weights.shape[:-1]))


def spread(rates: Array) -> Array:
    """The largest minus the smallest of the rates (...,K) that are defined, (...); NaN where fewer than two are, as in
    a bootstrap sample without a group."""
    differences = np.fmax.reduce(rates, axis=-1) - np.fmin.reduce(rates, axis=-1)
    return np.where((~np.isnan(rates)).sum(axis=-1) > 1, differences, np.nan)


def tpr_gap(predicted: Array, y: Array, a: Array, weights: Array | None = None) -> Array:
    """GAP: root mean square of the :func:`tpr_gaps` (Eq. 4 of Shen et al. 2021), (...); NaN where no class has one.
    Arguments as in :func:`tpr_gaps`.

    >>> import numpy as np
    >>> from despur.metrics import tpr_gap
    >>> predicted, y, a = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> float(tpr_gap(predicted, y, a).round(3))
    0.707
    """
    return root_mean_square(tpr_gaps(predicted, y, a, weights))


def root_mean_square(gaps: Array) -> Array:
    """Over the classes of gaps (K,...) that have one: (...); NaN without such a class."""
    return np.sqrt(mean_of_defined(np.square(gaps)))


def largest(gaps: Array) -> Array:
    """Over the classes of gaps (K,...) that have one: (...); NaN without such a class."""
    return np.fmax.reduce(gaps, axis=0, initial=np.nan)


def demographic_parity_difference(predicted: Array, a: Array, classes: int, weights: Array | None = None) -> Array:
    """The largest difference between attribute values in how often a class is predicted, (...): of all classes, the
    largest. NaN for one attribute value. As fairlearn defines it.

    ``predicted`` (N,) below ``classes``; ``a`` (N,); ``weights`` (...,N): how often each sample counts, by default
    once. Raises ValueError for an attribute below 0, which is not known.

    >>> import numpy as np
    >>> from despur.metrics import demographic_parity_difference
    >>> predicted, a = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1])
    >>> float(demographic_parity_difference(predicted, a, classes=2))
    0.5
    """
    predicted, a = np.asarray(predicted), read_attribute(a)
    weights, values = np.ones(len(a)) if weights is None else weights, np.unique(a)
    if len(values) < 2:
        return np.full(weights.shape[:-1], np.nan)
    rates = []
    for value in values:
        inside = weights[..., a == value]
        counts, total = inside @ one_hot(predicted[a == value], classes), inside.sum(axis=-1)[..., None]
        rates.append(np.where(total > 0, counts / np.maximum(total, 1e-12), np.nan))
    return np.fmax.reduce(spread(np.stack(rates, axis=-1)), axis=-1)


def equalized_odds_difference(
    predicted: Array, y: Array, a: Array, classes: int, weights: Array | None = None
) -> Array:
    """The largest :func:`demographic_parity_difference` within a class, (...). Of two classes, the larger one of the
    differences in true and in false positive rate. ``y`` (N,). Of Hardt et al. 2016, as fairlearn defines it.
    Other arguments as in :func:`demographic_parity_difference`.

    >>> import numpy as np
    >>> from despur.metrics import equalized_odds_difference
    >>> predicted, y, a = np.array([0, 1, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> float(equalized_odds_difference(predicted, y, a, classes=2))
    1.0
    """
    predicted, y, a = np.asarray(predicted), np.asarray(y), read_attribute(a)
    weights = np.ones(len(a)) if weights is None else weights
    within = [
        demographic_parity_difference(predicted[y == label], a[y == label], classes, weights[..., y == label])
        for label in np.unique(y)
    ]
    return np.fmax.reduce(within)


def leakage(
    train: Array, train_a: Array, test: Array, test_a: Array, weights: Array | None = None, strength: float = 0.1
) -> Array:
    """Accuracy on test samples of a linear SVM that predicts the attribute, fitted on training samples, (...) (Shen et
    al. 2021, Evaluation Metrics).

    ``train`` (M,D), ``train_a`` (M,), ``test`` (N,D), ``test_a`` (N,). ``weights`` (...,N): how often each test sample
    counts, by default once. ``strength``: C. NaN if all training samples have the same attribute value.

    >>> import numpy as np
    >>> from despur.metrics import leakage
    >>> z, a = np.array([[0.0], [1.0], [4.0], [5.0]]), np.array([0, 0, 1, 1])
    >>> float(leakage(z, a, z, a, strength=1.0))
    1.0
    """
    if len(np.unique(train_a)) < 2:
        return np.full(lead(weights), np.nan)
    values, normals, biases = support_vectors(train, train_a, strength)
    return mean((values[(test @ normals.T + biases).argmax(axis=1)] == test_a).astype(float), weights)


def nonlinear_leakage(
    train: Array, train_a: Array, test: Array, test_a: Array, weights: Array | None = None, landmarks: int = 300
) -> Array:
    """As :func:`leakage`, for a non-linear attacker, which Shen et al. 2021 name as its limit: an SVM with an RBF
    kernel. Other arguments as in :func:`leakage`.

    The width of the kernel is scikit-learn's ``gamma="scale"``. The kernel is approximated with ``landmarks`` training
    samples (Nystroem), since each run needs a fit. A linear kernel, scaled by gamma, is added, so that the attacker is
    about as strong as the linear one even in many dimensions.

    >>> import numpy as np
    >>> from despur.metrics import nonlinear_leakage
    >>> z, a = np.array([[-3.0], [-2.9], [0.0], [0.1], [3.0], [3.1]]), np.array([0, 0, 1, 1, 0, 0])
    >>> float(nonlinear_leakage(z, a, z, a))
    1.0
    """
    if len(np.unique(train_a)) < 2:
        return np.full(lead(weights), np.nan)
    train, test = (z.astype(np.promote_types(z.dtype, np.float32), copy=False) for z in (train, test))
    gamma, center = 1 / max(float(train.var()) * train.shape[1], 1e-12), train.mean(axis=0)
    kernel = Nystroem(gamma=gamma, n_components=min(landmarks, len(train)), random_state=0).fit(train)
    fitted, tested = (np.hstack([kernel.transform(x), np.sqrt(gamma) * (x - center)]) for x in (train, test))
    return leakage(fitted, train_a, tested, test_a, weights, strength=10)


def tradeoff(accuracy: Array, gap: Array, leakage_representations: Array, leakage_logits: Array) -> Array:
    """Trade-off of the models that are compared on a data set, (M,...); 1 for a model that is the best in everything
    (Shen et al. 2021, Evaluation Metrics).

    Weighted mean of ``accuracy`` (1/2), 1 - ``gap`` (1/4), 1 - ``leakage_representations`` and 1 - ``leakage_logits``
    (1/8 each), each divided by the largest value of the M models. All arguments are shares, (M,...).

    >>> import numpy as np
    >>> from despur.metrics import tradeoff
    >>> accuracy, gap, leaks = np.array([0.9, 0.8]), np.array([0.3, 0.1]), np.array([0.9, 0.6])
    >>> tradeoff(accuracy, gap, leaks, leaks).round(3)
    array([0.757, 0.944])
    """
    values = np.stack([accuracy, 1 - gap, 1 - leakage_representations, 1 - leakage_logits])
    return np.tensordot([1 / 2, 1 / 4, 1 / 8, 1 / 8], values / values.max(axis=1, keepdims=True), 1)
