"""Inferred domains, and the mini-batches of methods that know domains, groups or classes."""

import math

import numpy as np
import pytest
from helpers import build, labels, task

from despur.samplers.domains import balanced, domains

RNG = np.random.default_rng
SIZES = {(0, 0): 150, (0, 1): 10, (1, 0): 4, (1, 1): 36}


def test_readings_of_domain():
    y, inferred = np.array([0, 0, 1, 1, 2]), np.array([5, 0, 1, 5, 0])
    assert domains(y, inferred).tolist() == [2, 0, 1, 2, 0]
    assert domains(y, inferred, "majority").tolist() == [0, 1, 1, 0, 0]


def test_a_number_that_no_sample_has_is_no_group():
    (drawn,) = balanced(RNG(0), np.repeat([0, 3], [900, 100]), 1000)
    assert abs((drawn >= 900).sum() - 500) < 5 * math.sqrt(250)


@pytest.mark.parametrize("name", ["irm", "dann", "mmd"])
def test_methods_take_the_domains_asked_for(name):
    y, predicted = labels(SIZES)
    assert np.bincount(build(name, task(y, predicted)).rows).tolist() == [154, 46]
    if name != "irm":
        method = build(f"{name}+domain=majority", task(y, predicted))
        assert method.metadata() == {"domain_sizes": [14, 186]}
        assert method.domain.values.tolist() == method.rows.tolist() == (y == predicted).tolist()


FULL, ALMOST_EQUAL = [32] * 6 + [8], [29] * 4 + [28] * 3  # an epoch of 200 samples in batches of 32


@pytest.mark.parametrize(
    ("name", "part", "sizes"),
    [
        ("irm+sampler=balanced", "domain", FULL),
        ("dann+sampler=balanced", "domain", FULL),
        ("mmd+sampler=balanced", "domain", FULL),
        ("eiil", "domain", ALMOST_EQUAL),
        ("gdro", "group", ALMOST_EQUAL),
        ("george+sampler=balanced", "group", ALMOST_EQUAL),
        ("resample", "group", FULL),
        ("rwy", "class", FULL),
    ],
)
def test_batches_show_each_domain_group_or_class_equally_often_and_its_samples_too(name, part, sizes):
    y, predicted = labels(SIZES)
    method = build(f"{name}+batch_size=32", task(y, None if part == "class" else predicted))
    drawn = [list(method.epoch_batches(RNG(seed))) for seed in range(60)]
    assert all([len(batch) for batch in batches] == sizes for batches in drawn)
    part = {"domain": predicted, "group": 2 * y + predicted, "class": y}[part]
    shown = np.bincount(np.concatenate([batch for batches in drawn for batch in batches]), minlength=len(y))
    for value in np.unique(part):
        each, expected = shown[part == value], 60 * len(y) / len(np.unique(part))
        assert abs(each.sum() - expected) < 5 * math.sqrt(expected)
        assert np.abs(each - expected / len(each)).max() < 5 * math.sqrt(expected / len(each))


@pytest.mark.parametrize(
    "name", ["irm", "dann", "mmd", "eiil+sampler=shuffled", "gdro+sampler=shuffled", "george", "pgi+batches=shuffled"]
)
def test_shuffled_batches_show_each_sample_once(name):
    batches = list(build(f"{name}+batch_size=32", task(*labels(SIZES))).epoch_batches(RNG(0)))
    assert [len(batch) for batch in batches] == FULL and sorted(np.concatenate(batches)) == list(range(200))
