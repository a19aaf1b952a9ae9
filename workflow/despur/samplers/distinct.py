"""Samples that occur several times in a step are encoded once."""

import numpy as np

from despur.storage.store import Array


def distinct(rows: Array, once: bool) -> tuple[Array, Array]:
    """The rows to encode, (M,), and the position in them of each of ``rows``, in the same shape. Without ``once``, each
    occurrence is encoded."""
    if not once:
        return rows.ravel(), np.arange(rows.size).reshape(rows.shape)
    values, where = np.unique(rows, return_inverse=True)
    return values, where.reshape(rows.shape)
