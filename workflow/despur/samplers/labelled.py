"""Which training samples have labels where few do."""

import numpy as np

from despur.storage.store import Array


def label_ranks(rng: np.random.Generator, y: Array, block: Array | None = None) -> Array:
    """The order in which samples (N,) are labelled: the first n of any n hold each class equally often, to within one,
    until a class is used up. So the labelled shares are nested. A sample of a lower ``block`` comes before all of its
    class of a higher one."""
    order = np.lexsort((rng.random(len(y)), np.zeros(len(y)) if block is None else block, y))
    within = np.empty(len(y), int)
    within[order] = np.concatenate([np.arange(n) for n in np.unique(y, return_counts=True)[1]])
    ranks = np.empty(len(y), int)
    ranks[np.lexsort((y, within))] = np.arange(len(y))
    return ranks
