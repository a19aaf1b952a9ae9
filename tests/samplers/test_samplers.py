"""Contrastive batches: Alg. 1 and 2 of Zhang et al. 2022, and the released code's fallbacks."""

import numpy as np
import pytest
from helpers import labels, quick
from hypothesis import given
from hypothesis import strategies as st

from despur.samplers.contrastive import ContrastiveSampler, distinct, draw
from despur.samplers.hard import HardSampler
from despur.specs.settings import SettingError

ROLES = ("anchors", "positives", "negatives", "reverse_negatives")


@st.composite
def predictions(draw_value):
    """Classes and predictions of a few samples: at least two classes occur, and at least one sample is right."""
    classes = draw_value(st.integers(2, 4))
    count = draw_value(st.integers(3, 50))
    value = st.lists(st.integers(0, classes - 1), min_size=count, max_size=count)
    y, predicted = np.array(draw_value(value)), np.array(draw_value(value))
    y[:2], predicted[0] = (0, 1), 0
    return y, predicted


requests = st.integers(1, 9)
seeds = st.integers(0, 999)
flags = st.booleans()


def expected_pools(y, predicted, label, prediction):
    """Positives and negatives of a slice, and whether each had to fall back on the class."""
    positives = {i for i in range(len(y)) if y[i] == label and predicted[i] != prediction}
    negatives = {i for i in range(len(y)) if y[i] != label and predicted[i] == prediction}
    same, other = {i for i in range(len(y)) if y[i] == label}, {i for i in range(len(y)) if y[i] != label}
    return positives or same, negatives or other, not positives, not negatives


def right_slices(y, predicted):
    return sorted({(int(c), int(c)) for c, p in zip(y, predicted, strict=True) if c == p})


def all_batches(sampler, seed=0):
    rng = np.random.default_rng(seed)
    anchors = sampler.draw_anchors(rng, truncate=False)
    return anchors, sampler.draw(rng, anchors)


@quick
@given(predictions(), requests, requests, seeds, flags)
def test_roles_never_mix(data, m, n, seed, shrink):
    y, predicted = data
    sampler = ContrastiveSampler(y, predicted, m, n, shrink=shrink)
    anchors, batch = all_batches(sampler, seed)
    assert (batch.anchors[:, 0] == anchors).all()
    assert batch.rows.shape == (len(anchors), 2 * sampler.num_positives + 2 * sampler.num_negatives)
    for i, anchor in enumerate(anchors):
        c, p = y[anchor], predicted[anchor]
        assert c == p
        assert (y[batch.anchors[i]] == c).all() and (predicted[batch.anchors[i]] == p).all()
        positives, negatives, _, _ = expected_pools(y, predicted, c, p)
        assert set(batch.positives[i]) <= positives
        assert set(batch.negatives[i]) <= negatives
        first = batch.positives[i, 0]  # takes the anchor role on the other side
        assert set(batch.reverse_negatives[i]) <= expected_pools(y, predicted, y[first], predicted[first])[1]


@quick
@given(predictions(), requests, requests, seeds)
def test_a_row_repeats_samples_only_where_its_pool_is_too_small(data, m, n, seed):
    y, predicted = data
    sampler = ContrastiveSampler(y, predicted, m, n, shrink=False)
    _, batch = all_batches(sampler, seed)
    assert (sampler.num_positives, sampler.num_negatives) == (m, n)
    for i, anchor in enumerate(batch.anchors[:, 0]):
        positives, negatives, _, _ = expected_pools(y, predicted, y[anchor], predicted[anchor])
        first = batch.positives[i, 0]
        reverse = expected_pools(y, predicted, y[first], predicted[first])[1]
        companions = int(((y == y[anchor]) & (predicted == predicted[anchor])).sum()) - 1
        for row, pool in (
            (batch.anchors[i, 1:], companions),
            (batch.positives[i], len(positives)),
            (batch.negatives[i], len(negatives)),
            (batch.reverse_negatives[i], len(reverse)),
        ):
            assert len(row) > pool or len(set(row)) == len(row)


def test_additional_anchors_are_other_samples_than_the_first():
    y, predicted = labels({(0, 0): 8, (0, 1): 8, (1, 1): 8, (1, 0): 8})
    _, batch = all_batches(ContrastiveSampler(y, predicted, 8, 8))
    assert all(len(set(row)) == 8 for row in batch.anchors)  # Alg. 2, line 3: eight anchors are the whole slice


@quick
@given(predictions(), requests, requests)
def test_sizes_shrink_to_the_smallest_pool(data, m, n):
    y, predicted = data
    pools = [expected_pools(y, predicted, *cell) for cell in right_slices(y, predicted)]
    sampler = ContrastiveSampler(y, predicted, m, n)
    assert sampler.num_positives == min(m, *(len(positives) for positives, *_ in pools))
    assert sampler.num_negatives == min(n, *(len(negatives) for _, negatives, *_ in pools))


@quick
@given(predictions(), requests, requests)
def test_empty_pools_are_recorded_once_each(data, m, n):
    y, predicted = data
    expected = []
    for c, p in right_slices(y, predicted):
        _, _, no_positives, no_negatives = expected_pools(y, predicted, c, p)
        expected += [f"no positives for class {c} predicted as {p}"] * no_positives
        expected += [f"no negatives for class {c} predicted as {p}"] * no_negatives
    sampler = ContrastiveSampler(y, predicted, m, n)
    assert sorted(text.partition(":")[0] for text in sampler.fallbacks) == sorted(expected)
    all_batches(sampler)
    all_batches(sampler)
    assert len(sampler.fallbacks) == len(set(sampler.fallbacks))
    assert set(expected) <= {text.partition(":")[0] for text in sampler.fallbacks}


def test_without_a_right_prediction_there_is_no_anchor():
    y, predicted = labels({(0, 1): 5, (1, 0): 5})
    with pytest.raises(ValueError, match=r"no anchor.*anchors=all"):
        ContrastiveSampler(y, predicted, 2, 2)
    assert set(all_batches(ContrastiveSampler(y, predicted, 2, 2, anchors_from="all"))[0]) == set(range(10))


@quick
@given(predictions(), seeds)
def test_all_anchors_keep_the_roles(data, seed):
    y, predicted = data
    anchors, batch = all_batches(ContrastiveSampler(y, predicted, 3, 3, anchors_from="all"), seed)
    assert sorted(anchors) == list(range(len(y)))
    every = ContrastiveSampler(y, predicted, 3, 3, anchors_from="all").draw_anchors(np.random.default_rng(seed))
    assert sorted(every) == list(range(len(y)))  # a slice of a single sample would leave one of each
    for i, anchor in enumerate(anchors):
        positives, negatives, _, _ = expected_pools(y, predicted, y[anchor], predicted[anchor])
        assert set(batch.positives[i]) <= positives and set(batch.negatives[i]) <= negatives


def test_conditions_can_be_dropped_one_by_one():
    y, predicted = labels({(0, 0): 10, (0, 1): 5, (1, 1): 9, (1, 0): 4})

    def pools(**how):
        sampler = ContrastiveSampler(y, predicted, 3, 3, **how)
        return set(sampler.positive_pool(0, 0)), set(sampler.negative_pool(0, 0))

    same, other, alike = (set(np.flatnonzero(where)) for where in (y == 0, y == 1, predicted == 0))
    assert pools() == (same - alike, other & alike)
    assert pools(negatives_by="class") == (same - alike, other)
    assert pools(negatives_by="prediction") == (same - alike, alike)
    assert pools(positives_by="class") == (same, other & alike)
    assert pools(positives_by="class", negatives_by="class") == (same, other)


@quick
@given(predictions(), seeds)
def test_a_truncated_epoch_takes_the_smallest_slice_from_each(data, seed):
    y, predicted = data
    slices = right_slices(y, predicted)
    smallest = min(int(((y == c) & (predicted == p)).sum()) for c, p in slices)
    anchors = ContrastiveSampler(y, predicted, 2, 2).draw_anchors(np.random.default_rng(seed))
    assert len(anchors) == len(slices) * smallest == len(set(anchors))
    turns = y[anchors].reshape(smallest, len(slices))
    assert (np.sort(turns, axis=1) == [c for c, _ in slices]).all()  # interleaved: every round has each slice once


@quick
@given(predictions(), seeds)
def test_a_whole_epoch_takes_every_right_sample_once(data, seed):
    y, predicted = data
    anchors = ContrastiveSampler(y, predicted, 2, 2).draw_anchors(np.random.default_rng(seed), truncate=False)
    assert sorted(anchors) == list(np.flatnonzero(y == predicted))


def test_a_whole_epoch_mixes_the_slices():
    y, predicted = labels({(0, 0): 40, (0, 1): 4, (1, 1): 40, (1, 0): 4})
    anchors = ContrastiveSampler(y, predicted, 2, 2).draw_anchors(np.random.default_rng(0), truncate=False)
    assert all(5 < y[part].sum() < 15 for part in np.split(anchors, 4))


@pytest.mark.parametrize(("fraction", "small", "large"), [(1.0, 20, 50), (0.18, 4, 9), (0.1, 2, 5), (0.001, 1, 1)])
def test_anchor_fraction_thins_every_slice(fraction, small, large):
    y, predicted = labels({(0, 0): 20, (0, 1): 9, (1, 1): 50, (1, 0): 9})
    sampler, rng = ContrastiveSampler(y, predicted, 2, 2), np.random.default_rng(0)
    assert np.bincount(y[sampler.draw_anchors(rng, fraction)]).tolist() == [small, small]
    assert np.bincount(y[sampler.draw_anchors(rng, fraction, truncate=False)]).tolist() == [small, large]


def test_anchors_that_truncation_drops_change_from_epoch_to_epoch():
    y, predicted = labels({(0, 0): 4, (0, 1): 4, (1, 1): 40, (1, 0): 4})
    sampler, rng = ContrastiveSampler(y, predicted, 2, 2), np.random.default_rng(0)
    seen = np.concatenate([sampler.draw_anchors(rng) for _ in range(60)])
    assert set(seen) == set(np.flatnonzero(y == predicted))


@pytest.mark.parametrize(("pool", "size"), [(6, 9), (7, 7), (12, 5), (60, 5), (100, 32)])
def test_every_sample_of_a_pool_is_equally_likely(pool, size):
    members = np.arange(100, 100 + pool)
    drawn = draw(np.random.default_rng(0), members, 30000, size)
    assert drawn.shape == (30000, size)
    counts = np.bincount(drawn.ravel() - 100, minlength=pool)
    expected = 30000 * size / pool
    assert len(counts) == pool and np.abs(counts - expected).max() < 5 * np.sqrt(expected)
    # the first positive takes the anchor role: it too is any of them
    first = np.bincount(drawn[:, 0] - 100, minlength=pool)
    assert np.abs(first - 30000 / pool).max() < 5 * np.sqrt(30000 / pool)


class Counting:
    """A generator that gives up after many calls."""

    def __init__(self):
        self.rng, self.calls = np.random.default_rng(0), 0

    def __getattr__(self, name):
        self.calls += 1
        assert self.calls < 200, "draws again and again"
        return getattr(self.rng, name)


@pytest.mark.parametrize(("pool", "size"), [(129, 32), (257, 64), (600, 128), (9000, 2048)])
def test_large_samples_are_drawn_without_endless_retries(pool, size):
    drawn = draw(Counting(), np.arange(pool), 8, size)
    assert all(len(set(row)) == size for row in drawn)


def test_rows_of_a_step_are_drawn_independently():
    y, predicted = labels({(0, 0): 30, (0, 1): 30, (1, 1): 30, (1, 0): 30})
    sampler = ContrastiveSampler(y, predicted, 5, 5)
    batch = sampler.draw(np.random.default_rng(0), np.zeros(20, int))  # twenty times the same anchor
    for role in ROLES[1:]:
        assert len({tuple(sorted(row)) for row in getattr(batch, role)}) > 10


@pytest.mark.parametrize(("once", "encoded"), [(True, [2, 5, 7]), (False, [7, 2, 5, 7])])
def test_a_sample_that_occurs_twice_may_be_encoded_once(once, encoded):
    rows = np.array([[7, 2], [5, 7]])
    to_encode, where = distinct(rows, once)
    assert to_encode.tolist() == encoded and (to_encode[where] == rows).all()


def test_words_that_do_not_exist_are_refused():
    y = np.array([0, 0, 1, 1])
    with pytest.raises(SettingError, match="sampling='hrad': one of hard, random"):
        HardSampler(y, y, 1, 1, sampling="hrad")
    for key in ("anchors_from", "positives_by", "negatives_by"):
        with pytest.raises(SettingError, match=f"{key}='right': one of"):
            ContrastiveSampler(y, y, 1, 1, **{key: "right"})
