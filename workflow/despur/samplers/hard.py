"""Contrastive sampling of Zhang & Re 2022 (Sec. 4.2): anchors that zero-shot classification gets wrong, positives of
their class that it gets right, negatives of other classes. No torch: who finds neighbours hands them over."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from despur.storage.store import Array


@dataclass
class Drawn:
    """Rows for B anchors: positives (B,P) and negatives (B,M), and which of them count."""

    anchors: Array
    positives: Array
    real: Array
    negatives: Array
    different: Array

    @property
    def rows(self) -> Array:
        """Anchor, positives and negatives side by side, (B,1+P+M)."""
        return np.concatenate([self.anchors[:, None], self.positives, self.negatives], axis=1)


def padded(rng: np.random.Generator, pool: Array, count: int) -> tuple[Array, Array]:
    """``count`` of a pool without replacement; a smaller pool is filled up with repeats, which do not count. Rows, and
    which are real."""
    rows = rng.permutation(pool)[:count]
    return np.resize(rows, count), np.arange(count) < len(rows)


class HardSampler:
    """Anchors, positives and negatives. ``y``, ``predicted``: class and what stage 1 predicts, (N,).

    With ``sampling`` "random" in the place of "hard", all samples are anchors and positives of the others of their
    class, and negatives are any of other classes: as many anchors an epoch."""

    def __init__(
        self, y: Array, predicted: Array, num_positives: int, num_negatives: int, sampling: str = "hard"
    ) -> None:
        self.y, self.wrong = y, predicted != y
        self.num_positives, self.num_negatives = num_positives, num_negatives
        with_right = np.isin(y, np.unique(y[~self.wrong]))
        self.hard = np.flatnonzero(self.wrong & with_right)  # an anchor needs a positive
        self.skipped = int((self.wrong & ~with_right).sum())
        self.anchors = self.hard if sampling == "hard" else np.flatnonzero(np.bincount(y)[y] > 1)
        self.pools = [
            np.flatnonzero((y == c) & ~self.wrong if sampling == "hard" else y == c) for c in range(int(y.max()) + 1)
        ]

    def epoch_batches(self, rng: np.random.Generator, fraction: float = 1.0, balance: bool = False) -> Array:
        """The anchors of an epoch, in random order: a share of all; with ``balance``, of each class as many as of the
        rarest."""
        pool = rng.permutation(self.anchors)[: len(self.hard)]
        if balance:
            members = [pool[self.y[pool] == c] for c in np.unique(self.y[pool])]
            pool = (
                rng.permutation(np.concatenate([rows[: min(map(len, members))] for rows in members]))
                if members
                else pool
            )
        return pool[: int(np.ceil(fraction * len(pool)))]

    def others(self, anchors: Array) -> list[Array]:
        """All rows of other classes, for each anchor."""
        by_class = {c: np.flatnonzero(self.y != c) for c in np.unique(self.y[anchors])}
        return [by_class[c] for c in self.y[anchors]]

    def draw(self, rng: np.random.Generator, anchors: Array, pools: Sequence[Array]) -> Drawn:
        """Positives and negatives of anchors; negatives are drawn from each one's pool, of which those of its class do
        not count."""
        of_class = [self.pools[self.y[anchor]] for anchor in anchors]
        positives = [
            padded(rng, pool[pool != anchor], self.num_positives)
            for anchor, pool in zip(anchors, of_class, strict=True)
        ]
        negatives = [padded(rng, pool, self.num_negatives) for pool in pools]
        (near, real), (far, counts) = (map(np.stack, zip(*pairs, strict=True)) for pairs in (positives, negatives))
        return Drawn(anchors, near, real, far, counts & (self.y[far] != self.y[anchors][:, None]))


def upsampled(rng: np.random.Generator, wrong: Array) -> tuple[Array, Array]:
    """Wrong and right rows, equally many, each in random order: all of the larger part, the smaller one over and over.

    Where one part is empty, so it stays.
    """
    parts = [np.flatnonzero(wrong), np.flatnonzero(~wrong)]
    size = max(map(len, parts))
    first, second = (
        np.concatenate([rng.permutation(rows) for _ in range(-(-size // len(rows)))])[:size] if len(rows) else rows
        for rows in parts
    )
    return first, second


def cells_of(rng: np.random.Generator, y: Array, predicted: Array, size: int) -> Array:
    """Released code on Waterbirds: ``size`` samples of each class and prediction, with replacement where there are
    fewer. Shuffled rows."""
    _, cell = np.unique(np.stack([y, predicted]), axis=1, return_inverse=True)
    members = [np.flatnonzero(cell.ravel() == c) for c in range(int(cell.max()) + 1)]
    return rng.permutation(np.concatenate([rng.choice(rows, size, replace=len(rows) < size) for rows in members]))


def classes_then_cells(rng: np.random.Generator, y: Array, predicted: Array) -> Array:
    """Released code elsewhere: classes as large as the largest, of which its predictions' cells are equally large.
    Shuffled rows."""
    largest, found = int(np.bincount(y).max()), []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        cells = [rows[predicted[rows] == value] for value in np.unique(predicted[rows])]
        found += [np.resize(rng.permutation(cell), -(-largest // len(cells))) for cell in cells]
    return rng.permutation(np.concatenate(found))
