"""NewMetric (authors and year, equation): the mean probability of the true class."""

from collections.abc import Iterator, Mapping

import numpy as np
from scipy.special import softmax

from despur.storage.store import Array, Dataset


def mean_true_probability(logits: Array, y: Array, weights: Array) -> Array:
    """Mean probability of the true class, a share from 0 to 1, (...). ``logits`` (N,C), ``y`` (N,). ``weights``
    (...,N): how often each sample counts."""
    probabilities = softmax(logits, axis=1)[np.arange(len(y)), y]
    return weights @ probabilities / weights.sum(axis=-1)


def measure(
    dataset: Dataset, rows: Array, outputs: Mapping[str, Array], weights: Array
) -> Iterator[tuple[str, str, Array]]:
    """Rows of metrics.csv: metric, group (empty: all samples), a value for each row of ``weights`` (W,N).

    ``rows``: positions of the N samples of a test split. ``outputs``: of all samples, ``z`` (all,D) and, of a model
    with a head, ``logits`` (all,C)."""
    if "logits" in outputs:
        yield "new_metric", "", mean_true_probability(outputs["logits"][rows], dataset.y[rows], weights)
