"""Checks of arrays that losses, samplers and metrics of the library are given."""

from typing import Any

import numpy as np

from despur.storage.store import Array


def read_mask(values: Any, what: str) -> Array:
    """``values`` as bool. Raises ValueError, naming ``what`` they are, unless they are bool, or 0 and 1."""
    values = np.asarray(values)
    if values.dtype != bool and not np.isin(values, (0, 1)).all():
        raise ValueError(f"{what}: give bool, or 0 and 1; got {np.unique(values)[:5]}")
    return values.astype(bool)


def read_classes(values: Any, count: int) -> Array:
    """``values`` (N,), whole numbers from 0 to ``count`` - 1. Raises ValueError for others."""
    values = np.asarray(values)
    if len(values) and (values.dtype.kind not in "biu" or values.min() < 0 or values.max() >= count):
        raise ValueError(f"classes and attributes are whole numbers from 0 to {count - 1}; got {np.unique(values)[:5]}")
    return values.astype(int) if values.dtype == bool else values


def read_attribute(values: Any) -> Array:
    """Attribute values (N,). Raises ValueError for one that is negative or NaN, as -1 says that it is not known."""
    values = np.asarray(values)
    if values.dtype.kind in "if" and not (values >= 0).all():
        raise ValueError("an attribute value that is negative or NaN is not known: leave out these samples")
    return values


def read_probabilities(values: Any) -> Array:
    """Probabilities (N,C), which may be NaN. Raises ValueError for another shape or range, such as that of logits."""
    values = np.asarray(values)
    if values.ndim != 2 or (values < 0).any() or (values > 1 + 1e-6).any():
        raise ValueError(f"probabilities: give (N,C) from 0 to 1, not logits; got {values[:1]}, {values.shape}")
    return values
