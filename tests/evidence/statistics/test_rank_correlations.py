"""Rank correlations against scipy, and against all orders of few points."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from despur.evidence.statistics.contrasts import LEVEL
from despur.evidence.statistics.rank_correlations import correlate_ranks, fisher, least_half_width


def test_correlations_are_scipy_s_with_ties_too():
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 6, (2, 3, 4, 9))
    found = correlate_ranks(first, second)
    assert found.shape == (3, 4)
    for i, j in itertools.product(range(3), range(4)):
        assert found[i, j] == pytest.approx(stats.spearmanr(first[i, j], second[i, j]).statistic)
    assert np.isnan(correlate_ranks(np.ones(5), np.arange(5)))


def test_fisher_s_z_is_of_correlations_half_a_step_nearer_to_0():
    half = 6 / (10**3 - 10)
    assert fisher(np.array([0.0, 0.5, -0.5]), 10) == pytest.approx([0, math.atanh(0.5 - half), -math.atanh(0.5 - half)])
    assert fisher(np.array([1.0, -1.0]), 5) == pytest.approx([math.atanh(0.95), -math.atanh(0.95)])


@pytest.mark.parametrize("points", [6, 7, 8])
def test_chance_exceeds_the_least_half_width_at_most_as_often_as_the_level_says(points):
    """Over all orders of the points, each as likely as any other; and it is exceeded, or nothing could be shown."""
    orders = np.array(list(itertools.permutations(range(points))))
    z = fisher(correlate_ranks(orders, np.arange(points)), points)
    assert 0 < (z > least_half_width(points, LEVEL)).mean() <= LEVEL
