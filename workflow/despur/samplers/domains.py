"""Domains inferred from stage 1 (App. A.2 of Zhang et al. 2022), and mini-batches balanced over groups."""

import math
from collections.abc import Iterator

import numpy as np

from despur.storage.store import Array


def domains(y: Array, inferred: Array, reading: str = "attribute") -> Array:
    """The domain of each sample, (N,) from 0.

    ``y``, ``inferred``: (N,). ``reading``: "attribute", each inferred value is a domain; or "majority", samples whose
    inferred value is their class are one domain, the others another."""
    value = inferred == y if reading == "majority" else inferred
    return np.unique(value, return_inverse=True)[1]


def balanced(rng: np.random.Generator, group: Array, batch_size: int) -> Iterator[Array]:
    """Mini-batches of ``batch_size`` rows, of an epoch of N samples, drawn with replacement; each group that has
    samples has the same probability. The last mini-batch may be smaller. ``group``: (N,), from 0.

    >>> import numpy as np
    >>> from despur.samplers import balanced
    >>> batches = list(balanced(np.random.default_rng(0), np.array([0] * 90 + [1] * 10), batch_size=50))
    >>> [batch.shape for batch in batches]
    [(50,), (50,)]
    """
    group = np.asarray(group, int)
    sizes = np.bincount(group)
    rows = rng.choice(len(group), len(group), p=1 / (np.count_nonzero(sizes) * sizes[group]))
    yield from np.split(rows, range(batch_size, len(rows), batch_size))


def draw_batches(rng: np.random.Generator, chances: Array, batch_size: int) -> Iterator[Array]:
    """Mini-batches of almost equal size, at most ``batch_size``, of an epoch of N samples, drawn with replacement with
    ``chances`` (N,), whose sum is 1.

    >>> import numpy as np
    >>> from despur.samplers import draw_batches
    >>> [len(rows) for rows in draw_batches(np.random.default_rng(0), np.full(10, 0.1), batch_size=4)]
    [4, 3, 3]
    """
    rows = rng.choice(len(chances), len(chances), p=chances)
    yield from np.array_split(rows, math.ceil(len(rows) / batch_size))
