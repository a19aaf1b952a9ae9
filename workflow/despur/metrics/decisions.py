"""Metrics of predicted classes that need all of them, not only whether they are right: macro F1, demographic parity and
equalized odds."""

from collections.abc import Iterator, Mapping

import numpy as np

from despur.metrics.fairness import demographic_parity_difference, equalized_odds_difference
from despur.metrics.groups import average_groups, one_hot
from despur.storage.store import Array, Dataset


def macro_f1(predicted: Array, y: Array, classes: int, weights: Array | None = None) -> Array:
    """Mean over classes of the harmonic mean of precision and recall, as scikit-learn's f1_score with average="macro",
    a share, (...); without classes that neither occur nor are predicted. ``predicted``, ``y`` (N,) below
    ``classes``; ``weights`` (...,N): how often each sample counts, by default once.

    >>> import numpy as np
    >>> from despur.metrics import macro_f1
    >>> float(macro_f1(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1]), classes=2).round(3))
    0.733
    """
    weights = np.ones(len(y)) if weights is None else weights
    hits = (weights * (predicted == y)) @ one_hot(y, classes)
    total = weights @ one_hot(y, classes) + weights @ one_hot(predicted, classes)
    return average_groups(np.where(total > 0, 2 * hits / np.maximum(total, 1e-12), np.nan), np.ones(classes))


def measure(
    dataset: Dataset, rows: Array, outputs: Mapping[str, Array], weights: Array
) -> Iterator[tuple[str, str, Array]]:
    """Of a model with a head; differences where there are several attribute values."""
    if "logits" not in outputs:
        return
    y, a, classes = dataset.y[rows], dataset.a[rows], outputs["logits"].shape[1]
    predicted = outputs["logits"][rows].argmax(axis=1)
    yield "macro_f1", "", macro_f1(predicted, y, classes, weights)
    if len(np.unique(a)) > 1:
        yield "demographic_parity_difference", "", demographic_parity_difference(predicted, a, classes, weights)
        yield "equalized_odds_difference", "", equalized_odds_difference(predicted, y, a, classes, weights)
