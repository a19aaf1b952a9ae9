"""Which training samples are labeled, for data sets with few labels."""

import numpy as np

from despur.storage.store import Array


def label_ranks(rng: np.random.Generator, y: Array, block: Array | None = None) -> Array:
    """Rank of each sample in the order of labeling, (N,): the n labeled samples are those with ranks below n.

    For every n, classes are equally frequent among them, to within one, until a class is used up. So a larger share of
    labels contains the smaller ones (our choice: papers state shares of labels, not which samples have them). Within a
    class, samples of a lower ``block`` (N,) come first. ``y``: (N,).

    >>> import numpy as np
    >>> from despur.samplers import label_ranks
    >>> y = np.array([0, 0, 0, 1, 1])
    >>> np.bincount(y[label_ranks(np.random.default_rng(0), y) < 4])  # of four labels, two a class
    array([2, 2])
    """
    order = np.lexsort((rng.random(len(y)), np.zeros(len(y)) if block is None else block, y))
    within = np.empty(len(y), int)
    within[order] = np.concatenate([np.arange(n) for n in np.unique(y, return_counts=True)[1]])
    ranks = np.empty(len(y), int)
    ranks[np.lexsort((y, within))] = np.arange(len(y))
    return ranks
