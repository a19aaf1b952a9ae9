"""Encoding a sample once that occurs several times in a step."""

import numpy as np

from despur.storage.store import Array


def distinct(rows: Array, once: bool) -> tuple[Array, Array]:
    """What to encode for ``rows``, and where in it each of them lies (same shape); without ``once``, every occurrence
    by itself."""
    if not once:
        return rows.ravel(), np.arange(rows.size).reshape(rows.shape)
    values, where = np.unique(rows, return_inverse=True)
    return values, where.reshape(rows.shape)
