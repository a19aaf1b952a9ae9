"""Theorem 3.1 of Zhang et al. 2022: a bound of the worst-group loss of a class minus its average loss (Eq. 6).

The paper names no constants. Ours: C1 = sqrt(2), the Lipschitz constant of cross-entropy in the logits (its gradient is
softmax minus one-hot). C2 = 2 log K for K classes: the loss is clipped there, at twice the loss of guessing; clipping
keeps C1. B, the spectral norm of the head's weight. delta = 0.05."""

import math

import numpy as np
from scipy.special import log_softmax

from despur.metrics.alignment import alignment_loss
from despur.numerics.checks import read_classes
from despur.storage.store import Array

LIPSCHITZ = math.sqrt(2)  # C1
DELTA = 0.05


def ceiling(classes: int) -> float:
    """C2, in nats, for this number of classes."""
    return 2 * math.log(classes)


def clipped_cross_entropy(logits: Array, y: Array) -> Array:
    """Cross-entropy of each sample, (N,), in nats, clipped at C2. ``logits`` (N,K), ``y`` (N,). For Theorem 3.1 of
    Zhang et al. 2022; the clipping is ours.

    >>> import numpy as np
    >>> from despur.metrics import clipped_cross_entropy
    >>> clipped_cross_entropy(np.array([[2.0, 0.0], [9.0, 0.0]]), np.array([0, 1])).round(3)
    array([0.127, 1.386])
    """
    y = read_classes(y, logits.shape[1])
    return np.minimum(-log_softmax(logits, axis=1)[np.arange(len(y)), y], ceiling(logits.shape[1]))


def alignment_term(head: Array, z: Array, a: Array) -> float:
    """B C1 L_align of the training samples of one class; NaN for one group. ``head`` (K,D), ``z`` (N,D), ``a`` (N,)
    (Zhang et al. 2022, Theorem 3.1).

    >>> import numpy as np
    >>> from despur.metrics import alignment_term
    >>> round(alignment_term(np.eye(2), np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0, 1])), 3)
    7.071
    """
    return float(np.linalg.norm(head, 2) * LIPSCHITZ * alignment_loss(z, a))


def concentration_term(sizes: Array, classes: int) -> float:
    """max_g C2 sqrt(8 log(|G_y| / delta) / n_g) of one class. ``sizes`` (G,): training samples of its groups.
    ``classes``: how many there are, which gives C2 (Zhang et al. 2022, Theorem 3.1).

    >>> import numpy as np
    >>> from despur.metrics import concentration_term
    >>> round(concentration_term(np.array([1000, 100]), classes=2), 3)
    0.753
    """
    return ceiling(classes) * math.sqrt(8 * math.log(len(sizes) / DELTA) / sizes.min())
