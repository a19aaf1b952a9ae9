"""How often verdicts are wrong, and how often claims that are true hold: by simulation through the rules themselves."""

import itertools

import numpy as np
import pytest
from project import SOURCE
from scipy import stats

from despur.compute.randomness import derive_generator
from despur.evidence.claims import error_rates
from despur.evidence.statistics.contrasts import LEVEL

FALSE = ("all: false holds", "all: false fails", "most: false holds", "most: false fails")


def allowed(runs):
    """The nominal level and four standard errors of the simulation."""
    return LEVEL + 4 * np.sqrt(LEVEL * (1 - LEVEL) / runs)


@pytest.mark.parametrize(("seeds", "k", "test_noise"), [(3, 1, 0.0), (3, 4, 0.0), (5, 1, 0.0), (3, 1, 0.5)])
def test_verdicts_are_wrong_at_most_as_often_as_they_may_be(seeds, k, test_noise):
    found = error_rates.simulate_rates(k, seeds, test_noise, runs=1500)
    assert max(found[name] for name in FALSE) <= allowed(1500), found
    if (seeds, k, test_noise) == (5, 1, 0.0):
        assert found["power at 2"] >= 0.85


def test_the_power_of_one_contrast_is_that_of_student_s_test():
    """Without test noise there is a closed form: the noncentral t distribution."""
    found = error_rates.simulate_rates(1, 5, 0.0, runs=4000)
    for effect in (1, 2, 3):
        expected = stats.nct.sf(stats.t.isf(LEVEL, 4), 4, effect * np.sqrt(5))
        assert found[f"power at {effect}"] == pytest.approx(expected, abs=0.03)


def test_simulated_test_noise_is_found_and_each_seed_s_own_is_not():
    noise = error_rates.simulate(derive_generator("test"), 400, 1, 5, test_noise=0.5)
    (contrast,) = noise.add_effects([0.0])
    assert contrast.test_variance.mean() == pytest.approx(0.25, rel=0.05)
    assert contrast.by_seed.mean(axis=1).var() == pytest.approx(1 / 5 + 0.25, rel=0.25)


@pytest.mark.parametrize(("seeds", "points", "seed_noise"), [(3, 5, 0.0), (10, 8, 0.3)])
def test_rank_correlations_are_shown_by_chance_at_most_as_often_as_they_may_be(seeds, points, seed_noise):
    """Also where all seeds agree, as the points differ by much more than the seeds."""
    found = error_rates.simulate_correlations(points, seeds, seed_noise, runs=2000)
    assert max(found["false holds"], found["false fails"]) <= allowed(2000) and found["power"] > 0.1, found


@pytest.fixture(scope="module")
def table():
    return error_rates.simulate_table()


@pytest.mark.long
def test_error_rates_and_power_in_all_cases(table):
    cases = [*itertools.product(error_rates.SEEDS, error_rates.CONTRASTS, error_rates.TEST_NOISE)]
    assert table[["seeds", "contrasts", "test noise"]].to_numpy().tolist() == [list(map(float, case)) for case in cases]
    assert table[list(FALSE)].max(axis=None) <= 100 * allowed(error_rates.RUNS), table.to_string()
    one = table[(table["seeds"] == 5) & (table["contrasts"] == 1) & (table["test noise"] == 0)]
    assert one["power at 2"].item() >= 85


@pytest.fixture(scope="module")
def correlations():
    return error_rates.simulate_table_of_correlations()


@pytest.mark.long
def test_error_rates_and_power_of_rank_correlations_in_all_cases(correlations):
    cases = [*itertools.product(error_rates.SEEDS, error_rates.POINTS, error_rates.SEED_NOISE)]
    assert correlations[["seeds", "points", "seed noise"]].to_numpy().tolist() == [list(map(float, c)) for c in cases]
    assert correlations[["false holds", "false fails"]].max(axis=None) <= 100 * allowed(error_rates.RUNS)
    known = correlations[(correlations["points"] == 16) & (correlations["seed noise"] == 0)]
    assert known["power"].min() >= 95


@pytest.mark.long
def test_the_page_of_the_documentation_has_these_rates(table, correlations):
    assert (SOURCE / "docs/error_rates.md").read_text() == error_rates.to_text(table, correlations)
