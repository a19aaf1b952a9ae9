"""Theorem 3.1 of Zhang et al. 2022: how far a class's worst-group loss can lie above its average loss (Eq. 6).

The constants, of which the paper names none: C1 = sqrt(2), the Lipschitz constant of cross-entropy in the logits (its
gradient is softmax minus one-hot); C2 = 2 log K with K classes, at which the loss is clipped, so that a sample costs
at most twice what guessing costs (clipping keeps C1); B, the spectral norm of the head's weight; delta = 0.05."""

import math

import numpy as np
from scipy.special import log_softmax

from despur.metrics.alignment import alignment_loss
from despur.storage.store import Array

LIPSCHITZ = math.sqrt(2)  # C1
DELTA = 0.05


def ceiling(classes: int) -> float:
    """C2, in nats."""
    return 2 * math.log(classes)


def clipped_cross_entropy(logits: Array, y: Array) -> Array:
    """Cross-entropy of each sample, (N,), in nats, at most C2. ``logits`` (N,K)."""
    return np.minimum(-log_softmax(logits, axis=1)[np.arange(len(y)), y], ceiling(logits.shape[1]))


def alignment_term(head: Array, z: Array, a: Array) -> float:
    """B C1 L_align for the training representations (N,D) of one class; ``head`` (K,D). NaN for one group."""
    return float(np.linalg.norm(head, 2) * LIPSCHITZ * alignment_loss(z, a))


def concentration_term(sizes: Array, classes: int) -> float:
    """max_g C2 sqrt(8 log(|G_y| / delta) / n_g) for a class whose groups have ``sizes`` training samples."""
    return ceiling(classes) * math.sqrt(8 * math.log(len(sizes) / DELTA) / sizes.min())
