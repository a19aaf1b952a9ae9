"""Domains inferred from stage 1 (App. A.2 of Zhang et al. 2022), and mini-batches that show them equally often."""

from collections.abc import Iterator

import numpy as np

from despur.storage.store import Array


def domains(y: Array, inferred: Array, reading: str = "attribute") -> Array:
    """Number of each sample's domain, (N,).

    ``attribute``: samples inferred alike are a domain. ``majority``: those inferred as their class are one, the others
    another."""
    value = inferred == y if reading == "majority" else inferred
    return np.unique(value, return_inverse=True)[1]


def balanced(rng: np.random.Generator, group: Array, batch_size: int) -> Iterator[Array]:
    """An epoch's mini-batches: as many samples as there are, each group equally likely, with replacement."""
    sizes = np.bincount(group)
    rows = rng.choice(len(group), len(group), p=1 / (len(sizes) * sizes[group]))
    yield from np.split(rows, range(batch_size, len(rows), batch_size))
