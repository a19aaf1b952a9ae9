"""Bootstrap samples of test originals, drawn by their ids: the same in every split, data draw, method and on every
machine.

Each original counts Poisson(1) times in a bootstrap sample, as in the Poisson bootstrap (Chamandy et al. 2012): a draw
that a hash of the data set's name, the original's id and the sample's number gives. So values of any two runs on the
same originals are paired, even where runs do not share their test splits."""

import hashlib
from math import exp, factorial

import numpy as np

from despur.compute.randomness import derive_seed
from despur.storage.store import Array

CHUNK = 20_000  # originals at a time
POISSON = np.cumsum([exp(-1) / factorial(count) for count in range(20)])  # P(count or less)


def mixed(values: Array) -> Array:
    """SplitMix64's finalizer (Steele et al. 2014): uint64 to uint64, one to one; each bit depends on all bits."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def codes(originals: Array) -> Array:
    """Ids as uint64: integers as they are, others by a hash of their text."""
    if np.issubdtype(originals.dtype, np.integer):
        return originals.astype(np.uint64)
    return np.array([int.from_bytes(hashlib.sha256(str(name).encode()).digest()[:8]) for name in originals], np.uint64)


def counts(name: str, originals: Array, resamples: int) -> Array:
    """How often each of N samples counts, (1+resamples,N): once; then in bootstrap samples of the originals (N,) that
    they are made from.

    ``name``: the data set without its settings, so that data points that share their originals share the bootstrap
    samples."""
    ids, where = np.unique(codes(originals), return_inverse=True)
    key = mixed(np.uint64(derive_seed(f"resamples/{name}")) + mixed(ids))
    draws = mixed(np.arange(1, resamples + 1, dtype=np.uint64))
    weights = np.ones((1 + resamples, len(ids)))
    for first in range(0, len(ids), CHUNK):
        part = slice(first, first + CHUNK)
        uniform = (mixed(key[None, part] ^ draws[:, None]) >> np.uint64(11)) * 2.0**-53
        weights[1:, part] = np.searchsorted(POISSON, uniform, side="right")
    return weights[:, where]


def plan_checksum(name: str, resamples: int) -> str:
    """Twelve digits that two evaluations of a data set share if, and only if, they draw the same bootstrap samples."""
    drawn = counts(name, np.arange(1000), resamples).astype(np.uint8)
    return hashlib.sha256(drawn.tobytes()).hexdigest()[:12]
