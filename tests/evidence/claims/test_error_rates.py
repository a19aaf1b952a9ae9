"""How often verdicts are wrong, and how often claims that are true hold: by simulation through the rules themselves."""

import numpy as np
import pytest
from project import SOURCE
from scipy import stats

from despur.compute.randomness import derive_generator
from despur.evidence.claims import error_rates, number_error_rates
from despur.evidence.claims.noise_shapes import NOT_COVERED, SHAPES
from despur.evidence.statistics.contrasts import HOLDS, LEVEL, Contrast, decide
from despur.evidence.statistics.multiplicity import calibrate
from despur.reporting.pages.error_rates import to_text

FALSE = ("all: false holds", "all: false fails", "most: false holds", "most: false fails")


CASES = [
    ("normal", 3, 1),
    ("skewed", 3, 1),
    ("skewed", 5, 1),
    ("skewed", 3, 4),
    ("unequal", 5, 4),
    ("20 % collapse", 5, 1),
]


def allowed(runs, nominal=0.05):
    """What a verdict may be wrong in, and four standard errors of the simulation."""
    return nominal + 4 * np.sqrt(nominal * (1 - nominal) / runs)


@pytest.mark.parametrize(("shape", "seeds", "k"), CASES)
def test_verdicts_are_wrong_at_most_as_often_as_they_may_be(shape, seeds, k):
    found = error_rates.simulate_rates(shape, seeds, k, runs=3000)
    assert max(found[name] for name in FALSE) <= allowed(3000, LEVEL if shape == "normal" else 0.05), found


def test_student_s_t_at_its_nominal_level_would_be_wrong_where_seeds_are_skewed():
    """Why bounds are stricter than the rate of wrong verdicts."""
    rng = np.random.default_rng(0)
    skewed = Contrast(SHAPES["skewed"](rng, (4000, 3)), np.empty((4000, 3, 0)))
    assert (decide(skewed, 0.05) == HOLDS).mean() > 0.1


def test_the_power_of_one_contrast_is_that_of_student_s_test():
    """Without test noise there is a closed form: the noncentral t distribution."""
    found = error_rates.simulate_rates("normal", 5, 1, runs=4000)
    for effect in (2, 3):
        expected = stats.nct.sf(stats.t.isf(LEVEL, 4), 4, effect * np.sqrt(5))
        assert found[f"power at {effect}"] == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize(("shape", "seeds"), [("normal", 3), ("skewed", 5), ("unequal", 3), ("10 % collapse", 5)])
def test_numbers_are_within_or_beyond_the_tolerance_wrongly_at_most_as_often_as_they_may_be(shape, seeds):
    found = number_error_rates.simulate_numbers(shape, seeds, 1.0, runs=3000)
    assert max(rate for name, rate in found.items() if "false" in name) <= allowed(3000), found


def test_seeds_that_collapse_leave_a_mixture_of_fewer_seeds():
    rates = {3: {"power": 0.1}, 4: {"power": 0.2}, 5: {"power": 0.3}}
    expected = 0.1 * 10 * 0.8**3 * 0.2**2 + 0.2 * 5 * 0.8**4 * 0.2 + 0.3 * 0.8**5
    assert error_rates.mix_rates(rates.get, 5, 0.2)["power"] == pytest.approx(expected)


def test_simulated_test_noise_is_found_and_each_seed_s_own_is_not():
    noise = error_rates.simulate(derive_generator("test"), 400, 1, 5, "test noise")
    (contrast,) = noise.add_effects([0.0])
    assert contrast.test_variance.mean() == pytest.approx(0.25, rel=0.05)
    assert contrast.by_seed.mean(axis=1).var() == pytest.approx(1 / 5 + 0.25, rel=0.25)


@pytest.mark.parametrize(("seeds", "points", "seed_noise"), [(3, 8, 0.0), (10, 8, 0.3)])
def test_rank_correlations_are_shown_by_chance_at_most_as_often_as_they_may_be(seeds, points, seed_noise):
    """Also where all seeds agree, as the points differ by much more than the seeds."""
    found = error_rates.simulate_correlations(seeds, points, seed_noise, runs=2000)
    assert max(found["false holds"], found["false fails"]) <= allowed(2000, LEVEL) and found["power"] > 0.1, found


@pytest.mark.parametrize("shape", NOT_COVERED)
def test_noise_that_is_not_covered_has_mean_0_and_deviation_1(shape):
    noise = NOT_COVERED[shape](np.random.default_rng(0), (1_000_000,))
    assert (noise.mean(), noise.std()) == (pytest.approx(0, abs=0.01), pytest.approx(1, rel=0.05))
    assert stats.skew(noise) < -2


@pytest.mark.long
def test_the_page_shows_rates_of_all_cases_that_are_as_they_may_be():
    claims, numbers, choices, correlations, looks, other = (
        error_rates.tabulate_claims(),
        number_error_rates.tabulate_numbers(),
        number_error_rates.tabulate_choices(),
        error_rates.tabulate_correlations(),
        error_rates.tabulate_looks(),
        error_rates.tabulate_not_covered(),
    )
    most, most_at_level = (100 * allowed(error_rates.RUNS, nominal) for nominal in (0.05, LEVEL))
    assert claims[list(FALSE)].max(axis=None) <= most
    assert claims.loc[claims["noise"] == "normal", list(FALSE)].max(axis=None) <= most_at_level
    assert numbers[[name for name in numbers if "false" in name]].max(axis=None) <= most
    assert choices["false"].max() <= 5 and choices.set_index("deviation").loc[1.0, "power"].min() > 80
    assert correlations[["false holds", "false fails"]].max(axis=None) <= most_at_level
    known = correlations[(correlations["points"] == 16) & (correlations["seed noise"] == 0)]
    assert known["power"].min() >= 95
    once, some, each = looks[[name for name in looks if "false" in name]].to_numpy().T
    assert once.max() <= most and (once <= some).all() and (some <= each).all() and each.max() > 2 * most
    page = to_text(claims, numbers, choices, correlations, looks, other)
    assert (SOURCE / "docs/error_rates.md").read_text() == page


@pytest.mark.long
@pytest.mark.parametrize("seeds", [3, 5, 10, 20])
def test_errors_of_skewed_seeds_fall_as_the_root_of_the_level(seeds):
    noise = SHAPES["skewed"](np.random.default_rng(0), (100_000, seeds))
    contrast = Contrast(noise, np.empty((100_000, seeds, 0)))
    for level in LEVEL / np.array([1, 4, 16, 64, 256]):
        for wrong in (contrast.holds(level), contrast.fails(level)):
            assert wrong.mean() <= calibrate(np.array([level]))[0]
