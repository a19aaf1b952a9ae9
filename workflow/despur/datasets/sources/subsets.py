"""Less training data, with the ratios of its groups preserved (Zhang & Re 2022, Sec. 5.3)."""

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.specs.settings import SettingError
from despur.storage.store import Array


def quotas(sizes: Array, count: int) -> Array:
    """How many of ``count`` samples each group gets, (G,): in proportion to ``sizes``, by largest remainders, but at
    least one each."""
    exact = count * sizes / sizes.sum()
    counts = np.maximum(np.floor(exact).astype(int), 1)
    for _ in range(count - counts.sum()):
        counts[np.argmax(exact - counts)] += 1
    for _ in range(counts.sum() - count):
        counts[np.argmax(np.where(counts > 1, counts - exact, -np.inf))] -= 1
    return counts


def select_samples(table: pd.DataFrame, count: int, key: str) -> Array:
    """Positions to keep: every held-out sample and ``count`` training samples, 0: all of them. Nested: more samples
    hold the fewer.

    ``key`` names the draw. Raises SettingError for more samples than there are, or fewer than groups (class x
    attribute)."""
    train = np.flatnonzero(table["split"] == "train")
    if not count:
        return np.arange(len(table))
    pairs = table.iloc[train][["y", "a"]].to_numpy()
    _, group, sizes = np.unique(pairs, axis=0, return_inverse=True, return_counts=True)
    if not len(sizes) <= count <= len(train):
        raise SettingError(f"samples={count}: there are {len(train)} training samples in {len(sizes)} groups")
    order = derive_generator(f"{key}/samples").permutation(len(train))
    kept = [train[order[group.ravel()[order] == g][:n]] for g, n in enumerate(quotas(sizes, count))]
    return np.sort(np.concatenate([np.flatnonzero(table["split"] != "train"), *kept]))
