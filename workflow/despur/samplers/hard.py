"""Contrastive sampling of Zhang & Re 2022 (Sec. 4.2).

Anchors: samples that zero-shot classification gets wrong. Positives: samples of the same class that it gets right.
Negatives: samples of other classes, near the anchor; the caller finds these neighbors, so that no torch is needed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from despur.numerics.checks import read_mask
from despur.specs.settings import check_choice
from despur.storage.store import Array


@dataclass
class AnchorBatch:
    """Rows of B ``anchors`` (B,), their ``positives`` (B,P) and ``negatives`` (B,M); ``is_positive`` (B,P) and
    ``is_negative`` (B,M) say which count (Zhang & Re 2022, Sec. 4.2)."""

    anchors: Array
    positives: Array
    is_positive: Array
    negatives: Array
    is_negative: Array

    @property
    def rows(self) -> Array:
        """Rows of each anchor, its positives and its negatives, (B,1+P+M)."""
        return np.concatenate([self.anchors[:, None], self.positives, self.negatives], axis=1)


def draw_padded(rng: np.random.Generator, pool: Array, count: int) -> tuple[Array, Array]:
    """``count`` random members of ``pool`` without replacement, (count,), and which count, bool (count,). A smaller
    pool is repeated; repetitions do not count."""
    rows = rng.permutation(pool)[:count]
    return np.resize(rows, count), np.arange(count) < len(rows)


class HardSampler:
    """Anchors, positives and negatives. ``y``, ``predicted``: classes and predictions of stage 1, (N,);
    ``num_positives``, ``num_negatives``: of an anchor (Zhang & Re 2022, Sec. 4.2).

    With ``sampling`` "random" instead of "hard", anchors are drawn from all samples, positives from all others of their
    class, and negatives from all of other classes; the number of anchors an epoch is the same.

    >>> import numpy as np
    >>> from despur.samplers import HardSampler
    >>> y, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
    >>> sampler = HardSampler(y, predicted, num_positives=1, num_negatives=1)
    >>> anchors = sampler.draw_anchors(np.random.default_rng(0))
    >>> batch = sampler.draw(np.random.default_rng(0), anchors, sampler.list_other_classes(anchors))
    >>> batch.anchors, batch.positives
    (array([1]), array([[0]]))
    """

    def __init__(
        self, y: Array, predicted: Array, num_positives: int, num_negatives: int, sampling: str = "hard"
    ) -> None:
        check_choice("sampling", sampling, "hard", "random")
        y, predicted = np.asarray(y), np.asarray(predicted)
        self.y, self.predicted, self.wrong = y, predicted, predicted != y
        self.num_positives, self.num_negatives = num_positives, num_negatives
        with_right = np.isin(y, np.unique(y[~self.wrong]))
        self.hard = np.flatnonzero(self.wrong & with_right)  # an anchor needs a positive
        self.skipped = int((self.wrong & ~with_right).sum())
        self.anchors = self.hard if sampling == "hard" else np.flatnonzero(np.bincount(y)[y] > 1)
        self.pools = [
            np.flatnonzero((y == c) & ~self.wrong if sampling == "hard" else y == c) for c in range(int(y.max()) + 1)
        ]

    def draw_anchors(self, rng: np.random.Generator, fraction: float = 1.0, balance: bool = False) -> Array:
        """The anchors of an epoch, (A,), in random order: a ``fraction`` of all. With ``balance``, each class has as
        many as the class with the fewest."""
        pool = rng.permutation(self.anchors)[: len(self.hard)]
        if balance:
            members = [pool[self.y[pool] == c] for c in np.unique(self.y[pool])]
            fewest = min(map(len, members), default=0)
            pool = rng.permutation(np.concatenate([rows[:fewest] for rows in members])) if members else pool
        return pool[: int(np.ceil(fraction * len(pool)))]

    def positions(self) -> Array:
        """Of each wrong sample, its position among those of its class, sorted by prediction; of others 0: (N,)."""
        rows = self.hard[np.lexsort((self.predicted[self.hard], self.y[self.hard]))]
        positions = np.zeros(len(self.y), int)
        positions[rows] = np.arange(len(rows)) - np.searchsorted(self.y[rows], self.y[rows])
        return positions

    def list_other_classes(self, anchors: Array) -> list[Array]:
        """For each anchor, all rows of other classes."""
        by_class = {c: np.flatnonzero(self.y != c) for c in np.unique(self.y[anchors])}
        return [by_class[c] for c in self.y[anchors]]

    def draw(self, rng: np.random.Generator, anchors: Array, pools: Sequence[Array]) -> AnchorBatch:
        """Positives and negatives of ``anchors`` (B,). Negatives are drawn from the anchor's pool; members of its own
        class do not count."""
        of_class = [self.pools[self.y[anchor]] for anchor in anchors]
        positives = [
            draw_padded(rng, pool[pool != anchor], self.num_positives)
            for anchor, pool in zip(anchors, of_class, strict=True)
        ]
        negatives = [draw_padded(rng, pool, self.num_negatives) for pool in pools]
        (near, is_positive), (far, counts) = (
            map(np.stack, zip(*pairs, strict=True)) for pairs in (positives, negatives)
        )
        return AnchorBatch(anchors, near, is_positive, far, counts & (self.y[far] != self.y[anchors][:, None]))


def upsampled(rng: np.random.Generator, wrong: Array) -> tuple[Array, Array]:
    """Wrong and right rows, equally many, in random order: the fewer ones are repeated. If there are none of one kind,
    its array is empty. ``wrong``: bool (N,).

    >>> import numpy as np
    >>> from despur.samplers import upsampled
    >>> wrong, right = upsampled(np.random.default_rng(0), np.array([True, False, False]))
    >>> wrong, np.sort(right)
    (array([0, 0]), array([1, 2]))
    """
    wrong = read_mask(wrong, "wrong")
    size = int(max(wrong.sum(), (~wrong).sum()))
    return repeat_shuffled(rng, np.flatnonzero(wrong), size), repeat_shuffled(rng, np.flatnonzero(~wrong), size)


def repeat_shuffled(rng: np.random.Generator, rows: Array, size: int) -> Array:
    """``size`` rows: one random permutation of ``rows`` after the other; none if there are none."""
    if not len(rows):
        return rows
    return np.concatenate([rng.permutation(rows) for _ in range(math.ceil(size / len(rows)))])[:size]


def draw_each_class_and_prediction(rng: np.random.Generator, y: Array, predicted: Array, size: int) -> Array:
    """Released code of Zhang & Re 2022 on Waterbirds: shuffled rows of ``size`` samples of each class and prediction,
    drawn with replacement if there are fewer. ``y``, ``predicted``: (N,).

    >>> import numpy as np
    >>> from despur.samplers import draw_each_class_and_prediction
    >>> y, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> np.bincount(draw_each_class_and_prediction(np.random.default_rng(0), y, predicted, size=1)[:3] < 4)
    array([0, 3])
    """
    _, pair = np.unique(np.stack([y, predicted]), axis=1, return_inverse=True)
    members = [np.flatnonzero(pair.ravel() == p) for p in range(int(pair.max()) + 1)]
    return rng.permutation(np.concatenate([rng.choice(rows, size, replace=len(rows) < size) for rows in members]))


def upsample_classes_then_predictions(rng: np.random.Generator, y: Array, predicted: Array) -> Array:
    """Released code of Zhang & Re 2022 on the other data sets: shuffled rows. Classes are upsampled to the largest
    class; then, within a class, predictions to the most frequent one. Both draw with replacement what they enlarge.
    ``y``, ``predicted``: (N,).

    >>> import numpy as np
    >>> from despur.samplers import upsample_classes_then_predictions
    >>> y, predicted = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    >>> rows = upsample_classes_then_predictions(np.random.default_rng(0), y, predicted)
    >>> len(rows), int((rows == 3).sum())
    (7, 3)
    """
    classes = [np.flatnonzero(y == label) for label in np.unique(y)]
    drawn = []
    for rows in enlarge(rng, classes):
        drawn += enlarge(rng, [rows[predicted[rows] == value] for value in np.unique(predicted[rows])])
    return rng.permutation(np.concatenate(drawn))


def enlarge(rng: np.random.Generator, groups: list[Array]) -> list[Array]:
    """Groups of rows, each of the size of the largest: smaller ones are drawn with replacement."""
    size = max(map(len, groups))
    return [rows if len(rows) == size else rng.choice(rows, size) for rows in groups]
