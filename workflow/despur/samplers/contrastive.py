"""Contrastive batches from stage-1 predictions (Alg. 1 and 2 of Zhang et al. 2022)."""

from dataclasses import dataclass

import numpy as np

from despur.specs.settings import SettingError
from despur.storage.store import Array


def draw(rng: np.random.Generator, pool: Array, rows: int, size: int) -> Array:
    """``rows`` independent samples of ``size`` from a pool, (rows,size): without replacement unless the pool is
    smaller."""
    if size > len(pool):
        return pool[rng.integers(0, len(pool), (rows, size))]
    if len(pool) <= max(4, size // 2) * size:  # beyond, most rows have no repetition
        return pool[np.argpartition(rng.random((rows, len(pool))), size - 1, axis=1)[:, :size]]
    picks = rng.integers(0, len(pool), (rows, size))
    while True:  # redraw the few rows with a repetition
        ordered = np.sort(picks, axis=1)
        bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(bad):
            return pool[picks]
        picks[bad] = rng.integers(0, len(pool), (len(bad), size))


@dataclass
class ContrastiveBatch:
    """Training rows of B two-sided contrastive batches. The first anchor and the first positive of each take the
    anchor role."""

    anchors: Array  # (B,M)
    positives: Array  # (B,M)
    negatives: Array  # (B,N), for the first anchor
    reverse_negatives: Array  # (B,N), for the first positive

    @property
    def rows(self) -> Array:
        """(B,2M+2N)."""
        return np.concatenate([self.anchors, self.positives, self.negatives, self.reverse_negatives], axis=1)


class ContrastiveSampler:
    """Pools of anchors, positives and negatives by (class, prediction).

    positives: same class, another prediction. negatives: another class, the same prediction. An empty pool falls back
    as in the released code: no negatives -> all other classes; no positives -> the whole class. ``negatives_by``
    "class" or "prediction" drops the other condition (App. A.3); ``positives_by`` "class" drops the prediction
    (SupCon*)."""

    def __init__(
        self,
        y: Array,
        predicted: Array,
        num_positives: int,
        num_negatives: int,
        *,
        anchors_from: str = "correct",
        positives_by: str = "both",
        negatives_by: str = "both",
        shrink: bool = True,
    ) -> None:
        self.y, self.predicted, self.anchors_from = y, predicted, anchors_from
        self.positives_by, self.negatives_by = positives_by, negatives_by
        eligible = y == predicted if anchors_from == "correct" else np.ones(len(y), bool)
        if not eligible.any():
            raise SettingError(
                "stage 1 gets no training sample right, so there is no anchor: train it longer or use anchors=all"
            )
        pairs = np.unique(np.stack([y, predicted], axis=1)[eligible], axis=0)
        self.slices = {(int(c), int(p)): np.flatnonzero((y == c) & (predicted == p)) for c, p in pairs}
        self.fallbacks: list[str] = []
        self._pools: dict[tuple[str, int, int], Array] = {}
        self.num_positives = (
            min([num_positives, *(len(self.positive_pool(*s)) for s in self.slices)]) if shrink else num_positives
        )
        self.num_negatives = (
            min([num_negatives, *(len(self.negative_pool(*s)) for s in self.slices)]) if shrink else num_negatives
        )

    def positive_pool(self, label: int, prediction: int) -> Array:
        wanted = (self.y == label) & ((self.predicted != prediction) | (self.positives_by == "class"))
        return self._pool("positives", label, prediction, wanted, self.y == label)

    def negative_pool(self, label: int, prediction: int) -> Array:
        wanted = np.ones(len(self.y), bool)
        if self.negatives_by != "prediction":
            wanted &= self.y != label
        if self.negatives_by != "class":
            wanted &= self.predicted == prediction
        return self._pool("negatives", label, prediction, wanted, self.y != label)

    def _pool(self, role: str, label: int, prediction: int, wanted: Array, otherwise: Array) -> Array:
        key = (role, label, prediction)
        if key not in self._pools:
            if not wanted.any():
                self.fallbacks.append(
                    f"no {role} for class {label} predicted as {prediction}: uses class condition only"
                )
                wanted = otherwise
            self._pools[key] = np.flatnonzero(wanted)
        return self._pools[key]

    def epoch_batches(self, rng: np.random.Generator, fraction: float = 1.0, truncate: bool = True) -> Array:
        """Anchors of one epoch, one a contrastive batch.

        Slices (equal class and prediction) are shuffled, thinned to ``fraction`` and interleaved; with ``truncate``
        all are cut to the smallest one's length, as in the released code (not where every sample is an anchor: there,
        a slice may hold a single one)."""
        orders = [rng.permutation(pool)[: max(1, round(fraction * len(pool)))] for pool in self.slices.values()]
        if truncate and self.anchors_from == "correct":
            shortest = min(map(len, orders))
            return np.stack([order[:shortest] for order in orders], axis=1).ravel()
        return rng.permutation(np.concatenate(orders))

    def draw(self, rng: np.random.Generator, anchors: Array) -> ContrastiveBatch:
        """The two-sided contrastive batches of these first anchors (Alg. 2)."""
        count, m, n = len(anchors), self.num_positives, self.num_negatives
        batch = ContrastiveBatch(*(np.empty((count, size), np.int64) for size in (m, m, n, n)))
        batch.anchors[:, 0] = anchors
        for cell, where in self._by_cell(anchors):
            batch.anchors[where, 1:] = self._others(rng, self.slices[cell], anchors[where])
            batch.positives[where] = draw(rng, self.positive_pool(*cell), len(where), m)
            batch.negatives[where] = draw(rng, self.negative_pool(*cell), len(where), n)
        for cell, where in self._by_cell(batch.positives[:, 0]):
            batch.reverse_negatives[where] = draw(rng, self.negative_pool(*cell), len(where), n)
        return batch

    def _others(self, rng: np.random.Generator, pool: Array, anchors: Array) -> Array:
        """M - 1 additional anchors for each first anchor, other samples of its (sorted) pool; itself where it is
        alone."""
        others = draw(rng, np.arange(max(1, len(pool) - 1)), len(anchors), self.num_positives - 1)
        own = np.searchsorted(pool, anchors)[:, None]
        return pool[(others + (others >= own)) % len(pool)]

    def _by_cell(self, rows: Array) -> list[tuple[tuple[int, int], Array]]:
        pairs = np.stack([self.y[rows], self.predicted[rows]], axis=1)
        cells, which = np.unique(pairs, axis=0, return_inverse=True)
        return [((int(c), int(p)), np.flatnonzero(which == i)) for i, (c, p) in enumerate(cells)]
