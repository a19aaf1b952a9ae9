"""Contrastive batches by class and stage-1 prediction (Alg. 1 and 2 of Zhang et al. 2022)."""

from dataclasses import dataclass

import numpy as np

from despur.specs.settings import SettingError, check_choice
from despur.storage.store import Array


def draw(rng: np.random.Generator, pool: Array, rows: int, size: int) -> Array:
    """``rows`` independent random samples of ``size`` members of ``pool``, (rows,size); with replacement only if the
    pool is smaller than ``size``."""
    if size > len(pool):
        return pool[rng.integers(0, len(pool), (rows, size))]
    if len(pool) <= max(4, size // 2) * size:  # in larger pools, most rows have no repetition
        return pool[np.argpartition(rng.random((rows, len(pool))), size - 1, axis=1)[:, :size]]
    picks = rng.integers(0, len(pool), (rows, size))
    while True:  # redraw the few rows with a repetition
        ordered = np.sort(picks, axis=1)
        repeated = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if not len(repeated):
            return pool[picks]
        picks[repeated] = rng.integers(0, len(pool), (len(repeated), size))


def distinct(rows: Array, once: bool) -> tuple[Array, Array]:
    """The rows of a step to encode, (M,), and the position in them of each of ``rows``, in the same shape. Without
    ``once``, each occurrence is encoded."""
    if not once:
        return rows.ravel(), np.arange(rows.size).reshape(rows.shape)
    values, where = np.unique(rows, return_inverse=True)
    return values, where.reshape(rows.shape)


@dataclass
class ContrastiveBatch:
    """Training rows of B two-sided contrastive batches (Algorithm 2 of Zhang et al. 2022). Each has two sides: its
    first anchor, and its first positive as the anchor. ``anchors`` and ``positives`` (B,M); ``negatives`` (B,N) of the
    first anchor, ``reverse_negatives`` (B,N) of the first positive."""

    anchors: Array
    positives: Array
    negatives: Array
    reverse_negatives: Array

    @property
    def rows(self) -> Array:
        """All rows of each batch, (B,2M+2N)."""
        return np.concatenate([self.anchors, self.positives, self.negatives, self.reverse_negatives], axis=1)


class ContrastiveSampler:
    """Pools of anchors, positives and negatives by (class, prediction).

    Positives: same class, another prediction. Negatives: another class, same prediction. As in the released code, an
    empty pool is replaced: of negatives by all other classes, of positives by the whole class. ``y``, ``predicted``:
    (N,). ``num_positives``, ``num_negatives``: of an anchor. ``anchors_from``: "correct" predictions or "all" samples.
    ``negatives_by`` "class" or "prediction" drops the other condition (App. A.3); ``positives_by`` "class" drops that
    on predictions (SupCon*). ``shrink``: the numbers of positives and negatives are at most the size of the smallest
    pool. Raises SettingError if there is no anchor.

    >>> import numpy as np
    >>> from despur.samplers import ContrastiveSampler
    >>> y, predicted = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 0])
    >>> sampler = ContrastiveSampler(y, predicted, num_positives=1, num_negatives=1)
    >>> batch = sampler.draw(np.random.default_rng(0), np.array([0, 3]))
    >>> batch.positives, batch.negatives  # of the anchors 0 and 3
    (array([[2],
           [5]]), array([[5],
           [2]]))
    """

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
        check_choice("anchors_from", anchors_from, "correct", "all")
        check_choice("positives_by", positives_by, "both", "class")
        check_choice("negatives_by", negatives_by, "both", "class", "prediction")
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
        """Rows of the positives of an anchor of this class and prediction."""
        wanted = (self.y == label) & ((self.predicted != prediction) | (self.positives_by == "class"))
        return self._pool("positives", label, prediction, wanted, self.y == label)

    def negative_pool(self, label: int, prediction: int) -> Array:
        """Rows of the negatives of an anchor of this class and prediction."""
        wanted = np.ones(len(self.y), bool)
        if self.negatives_by != "prediction":
            wanted &= self.y != label
        if self.negatives_by != "class":
            wanted &= self.predicted == prediction
        return self._pool("negatives", label, prediction, wanted, self.y != label)

    def _pool(self, kind: str, label: int, prediction: int, wanted: Array, otherwise: Array) -> Array:
        key = (kind, label, prediction)
        if key not in self._pools:
            if not wanted.any():
                self.fallbacks.append(
                    f"no {kind} for class {label} predicted as {prediction}: uses class condition only"
                )
                wanted = otherwise
            self._pools[key] = np.flatnonzero(wanted)
        return self._pools[key]

    def draw_anchors(self, rng: np.random.Generator, fraction: float = 1.0, truncate: bool = True) -> Array:
        """First anchors of the contrastive batches of one epoch, (B,).

        Slices (samples of the same class and prediction) are shuffled and reduced to ``fraction``. With ``truncate``,
        as in the released code, all are cut to the length of the shortest and interleaved; not if every sample is an
        anchor, since a slice may then hold a single sample."""
        orders = [rng.permutation(pool)[: max(1, round(fraction * len(pool)))] for pool in self.slices.values()]
        if truncate and self.anchors_from == "correct":
            shortest = min(map(len, orders))
            return np.stack([order[:shortest] for order in orders], axis=1).ravel()
        return rng.permutation(np.concatenate(orders))

    def draw(self, rng: np.random.Generator, anchors: Array) -> ContrastiveBatch:
        """The two-sided contrastive batches of first anchors (B,) (Alg. 2)."""
        count, m, n = len(anchors), self.num_positives, self.num_negatives
        batch = ContrastiveBatch(*(np.empty((count, size), np.int64) for size in (m, m, n, n)))
        batch.anchors[:, 0] = anchors
        for pair, where in self._by_class_and_prediction(anchors):
            batch.anchors[where, 1:] = self._draw_others(rng, self.slices[pair], anchors[where])
            batch.positives[where] = draw(rng, self.positive_pool(*pair), len(where), m)
            batch.negatives[where] = draw(rng, self.negative_pool(*pair), len(where), n)
        for pair, where in self._by_class_and_prediction(batch.positives[:, 0]):
            batch.reverse_negatives[where] = draw(rng, self.negative_pool(*pair), len(where), n)
        return batch

    def _draw_others(self, rng: np.random.Generator, pool: Array, anchors: Array) -> Array:
        """M - 1 further anchors for each first anchor (B,): other samples of its sorted ``pool``, or the anchor itself
        if it is alone, (B,M-1)."""
        others = draw(rng, np.arange(max(1, len(pool) - 1)), len(anchors), self.num_positives - 1)
        position = np.searchsorted(pool, anchors)[:, None]
        return pool[(others + (others >= position)) % len(pool)]

    def _by_class_and_prediction(self, rows: Array) -> list[tuple[tuple[int, int], Array]]:
        """((class, prediction), positions in ``rows``) for each pair that occurs."""
        pairs = np.stack([self.y[rows], self.predicted[rows]], axis=1)
        unique, which = np.unique(pairs, axis=0, return_inverse=True)
        return [((int(c), int(p)), np.flatnonzero(which == i)) for i, (c, p) in enumerate(unique)]
