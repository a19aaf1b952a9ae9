"""Metrics of predicted probabilities: Brier score, calibration error, areas under the ROC and precision-recall curves.

As in scikit-learn, for many bootstrap samples at once. The areas of more than two classes are means over classes, each
against the rest."""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import softmax

from despur.metrics.groups import average_groups, mean
from despur.numerics.checks import read_classes, read_mask, read_probabilities
from despur.storage.store import Array, Dataset

BINS = 15  # Guo et al. 2017, Sec. 5
MANY = 10  # of more classes, the areas under curves have no values on bootstrap samples: each class is a sort


def brier_score(probabilities: Array, y: Array, weights: Array | None = None) -> Array:
    """Mean squared distance of the ``probabilities`` (N,C) and the one-hot classes (Brier 1950), (...), from 0 to 2; of
    two classes half of it, as in scikit-learn.

    ``y`` (N,); ``weights`` (...,N): how often each sample counts, by default once. Raises ValueError for what are no
    probabilities or classes.

    >>> import numpy as np
    >>> from despur.metrics import brier_score
    >>> float(brier_score(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0, 1])).round(3))
    0.1
    """
    probabilities = read_probabilities(probabilities)
    y = read_classes(y, probabilities.shape[1])
    squared = np.square(probabilities).sum(axis=1) + 1 - 2 * probabilities[np.arange(len(y)), y]
    return mean(squared / 2 if probabilities.shape[1] == 2 else squared, weights)


def calibration_error(probabilities: Array, y: Array, weights: Array | None = None) -> Array:
    """Expected calibration error (Guo et al. 2017, Eq. 3), (...): the mean distance between confidence and accuracy,
    over ``BINS`` bins of confidence of equal width. A confidence at an edge counts in the bin above it, where Guo et
    al. count it in the one below. Arguments as in :func:`brier_score`, and its errors.

    >>> import numpy as np
    >>> from despur.metrics import calibration_error
    >>> float(calibration_error(np.array([[0.8, 0.2], [0.4, 0.6]]), np.array([0, 1])).round(3))
    0.3
    """
    probabilities = read_probabilities(probabilities)
    y, confidence = read_classes(y, probabilities.shape[1]), probabilities.max(axis=1)
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    error = (probabilities.argmax(axis=1) == y) - confidence
    return np.abs(mean((bins[:, None] == np.arange(BINS)) * error[:, None], weights)).sum(axis=-1)


def areas_under_curves(score: Array, positive: Array, weights: Array | None = None) -> tuple[Array, Array]:
    """Area under the ROC curve (Fawcett 2006), and average precision as scikit-learn defines it: shares, (...); NaN
    where all samples are positive or none is, or a score is NaN.

    ``score`` (N,): higher for positive ones; ``positive`` bool (N,); ``weights`` (...,N): how often each sample counts,
    by default once.

    >>> import numpy as np
    >>> from despur.metrics import areas_under_curves
    >>> score, positive = np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True])
    >>> roc, precision = areas_under_curves(score, positive)
    >>> float(roc), round(float(precision), 3)
    (0.75, 0.833)
    """
    score, positive = np.asarray(score, float), read_mask(positive, "positive")
    weights = np.ones(len(score)) if weights is None else weights
    if not len(score) or np.isnan(score).any():
        return (np.full(weights.shape[:-1], np.nan),) * 2
    values, place = np.unique(-score, return_inverse=True)  # equal scores are one point of the curves
    order, starts = np.argsort(place, kind="stable"), np.searchsorted(np.sort(place), np.arange(len(values)))
    every = np.take(weights, order, axis=-1)
    hits = every * positive[order]
    if len(values) < len(score):
        hits, every = (np.add.reduceat(part, starts, axis=-1) for part in (hits, every))
    true_positives, taken = hits.cumsum(axis=-1), every.cumsum(axis=-1)
    total, others = true_positives[..., -1], taken[..., -1] - true_positives[..., -1]
    both = (total > 0) & (others > 0)
    below = (every - hits) * (true_positives - hits / 2)  # positives above each negative; of equal score, one half
    precision = true_positives / np.maximum(taken, 1e-12)
    roc, average = below.sum(axis=-1) / np.maximum(total * others, 1e-12), (hits * precision).sum(axis=-1)
    return np.where(both, roc, np.nan), np.where(both, average / np.maximum(total, 1e-12), np.nan)


def class_areas(probabilities: Array, y: Array, weights: Array) -> tuple[Array, Array]:
    """:func:`areas_under_curves` of the second of two classes, else their means over the classes that have both."""
    classes = probabilities.shape[1]
    by_class = [
        areas_under_curves(probabilities[:, label], y == label, weights)
        for label in ([1] if classes == 2 else range(classes))
    ]
    roc, precision = (
        average_groups(np.stack(areas, axis=-1), np.ones(len(by_class))) for areas in zip(*by_class, strict=True)
    )
    return roc, precision


def list_parts(dataset: Dataset, rows: Array) -> Iterator[tuple[str, Array]]:
    """All rows, with an empty name; where there are several attribute values, the rows of each. As masks (N,)."""
    yield "", np.ones(len(rows), bool)
    a = dataset.a[rows]
    values = np.unique(a)
    yield from ((dataset.about["attributes"][value], a == value) for value in (values if len(values) > 1 else ()))


def measure(
    dataset: Dataset, rows: Array, outputs: Mapping[str, Array], weights: Array
) -> Iterator[tuple[str, str, Array]]:
    """Of a model with a head: over all samples; over those of each attribute value, without bootstrap samples."""
    if "logits" not in outputs:
        return
    every, classes = softmax(outputs["logits"][rows].astype(float), axis=1), dataset.y[rows]
    for name, inside in list_parts(dataset, rows):
        probabilities, y, inside_weights = every[inside], classes[inside], (weights[:1] if name else weights)[:, inside]
        yield "brier_score", name, brier_score(probabilities, y, inside_weights)
        yield "calibration_error", name, calibration_error(probabilities, y, inside_weights)
        roc, precision = class_areas(probabilities, y, inside_weights[:1] if len(every.T) > MANY else inside_weights)
        yield "auroc", name, roc
        yield "average_precision", name, precision
