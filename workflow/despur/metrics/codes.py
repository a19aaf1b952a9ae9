"""Predictions coded against what is right: 0 is right.

Of at most ``TOP_CLASSES`` classes a code says which class was predicted: (predicted - right) modulo the classes. Of
more it says only what metrics need: of logits the rank of the right class (1 to 4: among the first five; 5: not), else
1 for wrong."""

import numpy as np

from despur.storage.store import Array

TOP_CLASSES = 5


def encode_predicted(predicted: Array, right: Array, classes: int) -> Array:
    """Codes uint8 (N,) of predicted classes (N,)."""
    shift = (predicted - right) % classes
    return (shift if classes <= TOP_CLASSES else np.minimum(shift, 1)).astype(np.uint8)


def encode_logits(logits: Array, right: Array) -> Array:
    """Codes uint8 (N,) of the class with the largest logit, of equals the first. ``logits`` (N,C)."""
    predicted = logits.argmax(axis=1)
    if logits.shape[1] <= TOP_CLASSES:
        return encode_predicted(predicted, right, logits.shape[1])
    right_logit = np.take_along_axis(logits, right[:, None], axis=1)
    return np.where(predicted == right, 0, np.clip((logits > right_logit).sum(axis=1), 1, TOP_CLASSES)).astype(np.uint8)
