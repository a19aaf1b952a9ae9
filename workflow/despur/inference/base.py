"""What an inference of pseudo-groups may look at, and what several of them share."""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from despur.storage.store import Array


@dataclass
class Labelled:
    """Samples with known attribute: stage-1 representations (N,D), classes and attributes (N,)."""

    z: Array
    y: Array
    a: Array


@dataclass
class Evidence:
    """Of the training samples: labels, what stage 1 says, and (only for those that read true groups) the true
    attribute.

    ``validation``: only for those that declare READS_VALIDATION_GROUPS.
    """

    y: Array
    num_classes: int
    rng: np.random.Generator
    seed: int
    z: Array = field(default_factory=lambda: np.empty((0, 0)))
    logits: Array = field(default_factory=lambda: np.empty((0, 0)))
    true_attribute: Array | None = None
    num_attributes: int = 0
    validation: Labelled | None = None


def match_labels(clusters: Array, y: Array, count: int) -> Array:
    """Name clusters after classes so that the names agree best with ``y`` (Hungarian assignment; App. E.2.3). Returns
    (N,)."""
    agreement = confusion_matrix(clusters, y, labels=np.arange(count))
    rows, columns = linear_sum_assignment(-agreement)
    names = np.empty(count, int)
    names[rows] = columns
    return names[clusters]
