"""Contrasts: half-widths by hand, the rules of decision against slow loops."""

import itertools
import math

import numpy as np
import pytest
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from despur.evidence.statistics.contrasts import (
    FAILS,
    HOLDS,
    LEVEL,
    UNDECIDED,
    Contrast,
    Group,
    decide,
    find_p_values,
    is_met,
)

T2 = 4.302652729749464  # Student's 97.5 % quantile with 2 degrees of freedom
Z = 1.959963984540054
INTERVAL = 0.025


def contrast(by_seed, margin=0.0, test_sd=0.0, draws=400, **more):
    """Values by seed; the same noise of test originals in all seeds, of exactly this standard deviation."""
    by_seed = np.asarray(by_seed, float)
    noise = np.resize([-1.0, 1.0], draws) * test_sd * math.sqrt((draws - 1) / draws)
    return Contrast(by_seed, by_seed[:, None] + (noise if test_sd else np.empty(0)), margin, **more)


def bounds(found, level=INTERVAL):
    return found.estimate - found.half_width(level), found.estimate + found.half_width(level)


# half-widths


def test_without_test_data_the_half_width_is_student_s():
    found = contrast([0.1, 0.2, 0.6])
    expected = stats.ttest_1samp([0.1, 0.2, 0.6], 0).confidence_interval(0.95)
    assert bounds(found) == pytest.approx((expected.low, expected.high))
    assert not found.has_test_data


def test_both_variances_add_each_with_its_own_quantile():
    found = contrast([0.1, 0.2, 0.3], test_sd=0.05)  # the variance of the mean over seeds is .01 / 3
    assert found.test_variance == pytest.approx(0.05**2)
    assert found.half_width(INTERVAL) == pytest.approx(math.sqrt(T2**2 * 0.01 / 3 + Z**2 * 0.05**2))
    assert found.has_test_data


def test_test_noise_of_each_seed_alone_is_not_counted_twice():
    """Draws that differ by seed: bootstrap values of different seeds have no covariance, and what varies is in
    V_seeds."""
    rng = np.random.default_rng(0)
    apart = Contrast(np.array([0.1, 0.2, 0.3]), rng.normal(0, 1, (3, 4000)))
    assert apart.test_variance < 0.05
    opposite = np.array([[1.0, -1.0], [-1.0, 1.0]]).repeat(10, axis=1)
    assert Contrast(np.zeros(2), opposite).test_variance == 0  # a negative covariance is none


def test_test_variance_is_the_mean_covariance_of_pairs_of_seeds():
    clouds = np.random.default_rng(1).normal(size=(4, 50)) + np.random.default_rng(2).normal(size=50)
    pairs = [np.cov(clouds[i], clouds[j])[0, 1] for i, j in itertools.combinations(range(4), 2)]
    assert Contrast(np.zeros(4), clouds).test_variance == pytest.approx(np.mean(pairs))


def test_leading_dimensions_are_decided_one_by_one():
    rng = np.random.default_rng(0)
    by_seed, clouds = rng.normal(0.5, 1, (2, 7, 5)), rng.normal(size=(2, 7, 5, 30))
    found = decide(Contrast(by_seed, clouds))
    assert found.shape == (2, 7)
    for i, j in itertools.product(range(2), range(7)):
        assert found[i, j] == decide(Contrast(by_seed[i, j], clouds[i, j]))


# one contrast


@pytest.mark.parametrize(
    ("margin", "verdict"), [(0.13, HOLDS), (0.14, UNDECIDED), (0.2, UNDECIDED), (0.26, UNDECIDED), (0.27, FAILS)]
)
def test_the_verdict_is_on_which_side_of_the_margin_the_bounds_lie(margin, verdict):
    # 0.2 -+ 11.113 * 0.01 / sqrt(3) = 0.2 -+ 0.0642, of Student's 99.6 % quantile
    found = contrast([0.19, 0.2, 0.21], margin)
    assert decide(found) == verdict


@pytest.mark.parametrize("seeds", [1, 2])
def test_fewer_than_three_seeds_decide_nothing(seeds):
    assert decide(contrast([0.5] * seeds, 0.1)) == decide(contrast([0.5] * seeds, 0.9)) == UNDECIDED


@pytest.mark.parametrize(("margin", "verdict"), [(0.01, HOLDS), (0.011, FAILS)])
def test_a_count_decides_by_its_value_from_one_seed(margin, verdict):
    assert decide(contrast([0.0103], margin, counted=True)) == verdict
    assert decide(contrast([0.0103], margin)) == UNDECIDED
    assert contrast([0.0103] * 3, margin, test_sd=0.1, counted=True).half_width() == 0


def test_an_estimate_at_its_margin_decides_nothing():
    assert decide(contrast([0.5, 0.5, 0.5], 0.5, test_sd=0.1)) == UNDECIDED
    assert decide(contrast([0.5], 0.5, counted=True)) == UNDECIDED


def test_equal_values_from_all_seeds_decide_nothing_unless_test_data_make_them_vary():
    values = [0.1 + 0.2, 0.3, 0.3]
    assert decide(contrast(values, 0.1)) == UNDECIDED
    assert decide(Contrast(np.full(3, 0.3), np.full((3, 400), 0.3), 0.1)) == UNDECIDED  # as two groups without a hit
    assert decide(contrast(values, 0.1, test_sd=0.05)) == decide(contrast(values, 0.1, counted=True)) == HOLDS


def test_a_rank_correlation_has_at_least_the_half_width_of_its_points():
    t = stats.t.isf(LEVEL, 6)
    least = math.atanh(t / math.sqrt(t**2 + 6))  # the critical correlation of 8 points
    assert contrast([1.0, 1.0, 1.0], points=8).half_width() == pytest.approx(least)
    assert decide(contrast([least + 0.01] * 3, points=8)) == HOLDS
    assert decide(contrast([least - 0.01] * 3, points=8)) == UNDECIDED
    assert contrast([0.0, 1.0, 2.0], points=8).half_width(INTERVAL) == pytest.approx(T2 / math.sqrt(3))


def test_p_values_are_those_of_student_s_test_on_either_side_of_the_margin():
    values = [0.3, 0.4, 0.6]
    holds, fails = find_p_values(contrast(values, 0.1))
    assert holds == pytest.approx(stats.ttest_1samp(values, 0.1, alternative="greater").pvalue, rel=2e-3)
    assert fails == 1  # not shown at any level below one half
    assert find_p_values(contrast(np.negative(values), -0.1)) == (fails, holds)


# several contrasts


def lower(c, level):
    return c.by_seed.mean() - stats.t.isf(level, c.seeds - 1) * c.by_seed.std(ddof=1) / math.sqrt(c.seeds)


def upper(c, level):
    return 2 * c.by_seed.mean() - lower(c, level)


@quick
@given(st.lists(st.tuples(st.floats(-3, 3), st.floats(-1, 1)), min_size=1, max_size=6), st.integers(0, 1000), st.data())
def test_the_rules_for_all_and_for_at_least_m(shifts, seed, data):
    noise = np.random.default_rng(seed).normal(0, 0.3, (len(shifts), 4))
    parts = [contrast(shift + own, margin) for (shift, margin), own in zip(shifts, noise, strict=True)]
    k, m = len(parts), data.draw(st.integers(1, len(shifts)))
    every = all(lower(c, LEVEL) > c.margin for c in parts)
    refuted = any(upper(c, LEVEL / k**2) < c.margin for c in parts)
    assert decide(Group(parts)) == (HOLDS if every else FAILS if refuted else UNDECIDED)
    enough = sum(lower(c, LEVEL / k**2) > c.margin for c in parts) >= m
    too_few = sum(upper(c, LEVEL / k**2) < c.margin for c in parts) >= k - m + 1
    assert decide(Group(parts, m)) == (HOLDS if enough else FAILS if too_few else UNDECIDED)


def test_some_of_several_groups_decide_each_at_its_share_of_the_level():
    """One of two methods beats all others: each method's contrasts at half the level."""
    between = stats.t.isf(LEVEL / 4, 2) * 0.01 / math.sqrt(3) + 1e-6  # just enough at half the level
    beats, loses = contrast(np.array([-0.01, 0, 0.01]) + between), contrast(np.array([-0.01, 0, 0.01]) - 9 * between)
    assert decide(Group([Group([beats, beats]), Group([beats, loses])], 1)) == HOLDS
    assert decide(Group([Group([beats, beats]), Group([loses])], 2)) == FAILS
    barely = contrast(beats.by_seed - 2e-6)
    assert decide(Group([Group([barely]), Group([loses])], 1)) == UNDECIDED
    assert decide(Group([barely])) == HOLDS


def test_estimates_alone_meet_a_statement_at_their_margins():
    high, level, low = contrast([0.2], 0.1), contrast([0.1], 0.1), contrast([0.0], 0.1)
    assert is_met(Group([high, level])) and not is_met(Group([high, level, low]))
    assert is_met(Group([high, low, low], 1)) and not is_met(Group([high, low, low], 2))
