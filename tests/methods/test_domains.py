"""Inferred domains, and mini-batches that show them equally often."""

import math

import numpy as np
import pytest
from helpers import build, labels, task

from despur.samplers.contrastive import distinct
from despur.samplers.domains import balanced, domains

RNG = np.random.default_rng
SIZES = {(0, 0): 150, (0, 1): 10, (1, 0): 4, (1, 1): 36}


def test_readings_of_domain():
    y, inferred = np.array([0, 0, 1, 1, 2]), np.array([5, 0, 1, 5, 0])
    assert domains(y, inferred).tolist() == [2, 0, 1, 2, 0]
    assert domains(y, inferred, "majority").tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("name", ["irm", "dann", "mmd"])
def test_methods_take_the_domains_asked_for(name):
    y, predicted = labels(SIZES)
    assert np.bincount(build(name, task(y, predicted)).rows).tolist() == [154, 46]
    if name != "irm":
        method = build(f"{name}+domain=majority", task(y, predicted))
        assert method.metadata() == {"domain_sizes": [14, 186]}
        assert method.domain.values.tolist() == method.rows.tolist() == (y == predicted).tolist()


def test_balanced_batches_draw_each_group_equally_often():
    group = np.repeat([0, 1, 2], [150, 14, 36])
    drawn = [list(balanced(RNG(seed), group, 32)) for seed in range(60)]
    assert all([len(batch) for batch in batches] == [32] * 6 + [8] for batches in drawn)
    rows = np.concatenate([batch for batches in drawn for batch in batches])
    total = len(rows)
    assert np.abs(np.bincount(group[rows]) - total / 3).max() < 5 * math.sqrt(total * 2 / 9)
    rare = np.bincount(rows, minlength=200)[150:164]
    assert np.abs(rare - total / 42).max() < 5 * math.sqrt(total / 42)


@pytest.mark.parametrize("name", ["irm", "dann", "mmd"])
def test_samplers_of_the_methods(name):
    y, predicted = labels(SIZES)
    shuffled = np.concatenate(list(build(f"{name}+batch_size=32", task(y, predicted)).epoch_batches(RNG(0))))
    assert sorted(shuffled) == list(range(200))
    method = build(f"{name}+batch_size=32+sampler=balanced", task(y, predicted))
    even = np.concatenate([np.concatenate(list(method.epoch_batches(RNG(seed)))) for seed in range(20)])
    assert abs((method.rows[even] == 1).mean() - 0.5) < 5 * 0.5 / math.sqrt(4000)


def test_distinct_rows_can_be_put_back():
    rows = np.array([[4, 9, 4], [2, 9, 4]])
    samples, where = distinct(rows, True)
    assert samples.tolist() == [2, 4, 9] and (samples[where] == rows).all()
    samples, where = distinct(rows, False)
    assert samples.tolist() == [4, 9, 4, 2, 9, 4] and where.tolist() == [[0, 1, 2], [3, 4, 5]]
