"""Advice on what would settle a claim: by trial of many numbers of seeds."""

import math

import numpy as np
import pytest
from scipy import stats
from tests.evidence.statistics.test_contrasts import contrast

from despur.evidence.claims.claim_evidence import what_would_settle
from despur.evidence.statistics.contrasts import LEVEL, Group


def seeds_for(gap, sd, test_sd=0.0, level=LEVEL):
    """By trial: the fewest seeds whose half-width is below a gap."""
    return next(
        n
        for n in range(3, 2000)
        if math.hypot(stats.t.isf(level, n - 1) * sd / math.sqrt(n), stats.norm.isf(level) * test_sd) < gap
    )


@pytest.mark.parametrize(("sd", "test_sd"), [(0.05, 0.0), (0.1, 0.0), (0.1, 0.03)])
def test_how_many_seeds_settle_a_contrast(sd, test_sd):
    by_seed = 0.1 + sd * np.array([-1, 0, 1])
    found = contrast(by_seed, test_sd=test_sd)
    assert what_would_settle(found) == f"about {seeds_for(0.1, sd, test_sd)} seeds; then it would hold"
    opposite = contrast(-by_seed, test_sd=test_sd)
    assert what_would_settle(opposite) == f"about {seeds_for(0.1, sd, test_sd)} seeds; then it would fail"


def test_the_slowest_of_all_contrasts_and_the_fastest_refutation_count():
    fast, slow = contrast([0.05, 0.1, 0.15]), contrast([0.0, 0.1, 0.2])
    assert what_would_settle(Group([fast, slow])) == f"about {seeds_for(0.1, 0.1)} seeds; then it would hold"
    refuted = contrast([-0.2, -0.1, 0.0])
    assert (
        what_would_settle(Group([fast, refuted]))
        == f"about {seeds_for(0.1, 0.1, level=LEVEL / 4)} seeds; then it would fail"
    )


def test_advice_makes_sense_where_no_number_of_seeds_helps():
    assert what_would_settle(contrast([0.1, 0.2])) == "at least 3 seeds"
    sure = contrast([0.0999, 0.1, 0.1001])  # what there is does not settle it
    assert what_would_settle(sure) == "about 4 seeds; then it would hold"
    noisy = contrast([0.01, 0.02, 0.03], test_sd=0.05)
    assert (
        what_would_settle(noisy, 900)
        == "more seeds cannot settle it: 900 test originals are too few for an estimate so close to its margin"
    )
    assert "the test data are too few" in what_would_settle(noisy)
    assert what_would_settle(contrast([0.0, 0.0, 0.0])) == "more seeds cannot settle it: the estimate is at its margin"
    assert what_would_settle(contrast([-1.0, 0.001, 1.0])) == "more than 100 seeds: the estimate is close to its margin"


def test_of_a_correlation_over_few_points_more_seeds_are_no_advice():
    """Over 8 points, chance alone makes correlations of up to .71."""
    weak, strong = ([math.atanh(r) + d for d in (-0.1, 0, 0.1)] for r in (0.6, 0.9))
    assert (
        what_would_settle(contrast(weak, points=8))
        == "more seeds cannot settle it: over 8 points such a rank correlation may be chance"
    )
    assert "over 8 points such" in what_would_settle(contrast(np.add(weak, 0.9), margin=0.9, points=8))
    wide = [3 * z for z in strong]
    assert what_would_settle(contrast([-1.0, strong[1], wide[1]], points=8)).startswith("about ")
