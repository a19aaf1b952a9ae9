"""Numbers: Welch's test by hand and by scipy, what is tolerated, what is too noisy, how many differ by chance."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from despur.evidence.numbers.sample_noise import is_official, sample_variance
from despur.evidence.numbers.verdicts import (
    differences_by_chance,
    judge_number,
    last_digit,
    share_variance,
    smallest_visible,
    summarize_verdicts,
)

T = {2: 4.30265, 4: 2.77645}  # Student's 97.5 % quantiles


@pytest.mark.parametrize(
    ("theirs", "their_seeds", "ours", "seeds"), [(3.0, 3, 1.5, 3), (0.5, 10, 2.0, 4), (1.0, 2, 0.1, 5)]
)
def test_without_test_noise_and_rounding_it_is_welch_s_test(theirs, their_seeds, ours, seeds):
    visible = smallest_visible(theirs, their_seeds, ours, seeds)
    assert stats.ttest_ind_from_stats(
        visible, ours, seeds, 0, theirs, their_seeds, equal_var=False
    ).pvalue == pytest.approx(0.05)


def test_an_unknown_deviation_is_ours_and_an_unknown_number_of_seeds_one():
    assert smallest_visible(None, 3, 1.5, 3) == pytest.approx(T[2] * 1.5 * math.sqrt(1 / 3 + 1 / 3), rel=1e-5)
    assert smallest_visible(None, 1, 1.5, 3) == pytest.approx(T[2] * 1.5 * math.sqrt(1 / 3 + 1), rel=1e-5)
    assert smallest_visible(1.5, 1, 1.5, 3) == pytest.approx(
        stats.t.isf(0.025, 3.2) * 1.5 * math.sqrt(4 / 3)
    )  # by Welch: (4/3)^2 / (1/18 + 1/2)


def test_test_noise_adds_with_its_own_quantile_and_rounding_is_tolerated():
    visible = smallest_visible(1.0, 3, 1.0, 3, test_variance=4.0, rounding=0.05)
    assert visible == pytest.approx(math.sqrt(T[4] ** 2 * 2 / 3 + 1.959964**2 * 4) + 0.05, rel=1e-5)


def test_without_any_spread_only_equal_numbers_agree_but_for_rounding():
    exact = smallest_visible(0.0, 3, 0.0, 3, rounding=0.05)
    assert [judge_number(d, exact) for d in (0.0, 0.05, -0.05, 0.06, -0.06)] == ["agrees"] * 3 + ["differs"] * 2


@pytest.mark.parametrize(
    ("difference", "visible", "verdict"),
    [
        (4.9, 5.0, "agrees"),
        (5.1, 5.0, "differs"),
        (-5.1, 5.0, "differs"),
        (4.9, 5.1, "too noisy"),
        (5.2, 5.1, "differs"),
        (0.0, math.nan, "noise of test data not known: undecided"),
    ],
)
def test_runs_that_would_not_show_five_points_do_not_agree(difference, visible, verdict):
    assert judge_number(difference, visible) == verdict


def test_equal_runs_differ_about_as_often_as_the_level_says():
    """Rows of a table whose runs are as the paper's: 5 %, within Monte Carlo error."""
    rng = np.random.default_rng(0)
    found = []
    for theirs, ours in zip(rng.normal(70, 2, (4000, 3)), rng.normal(70, 2, (4000, 3)), strict=True):
        visible = smallest_visible(theirs.std(ddof=1), 3, ours.std(ddof=1), 3)
        found.append(judge_number(ours.mean() - theirs.mean(), visible) == "differs")
    assert np.mean(found) == pytest.approx(0.05, abs=0.02)


@pytest.mark.parametrize(
    ("printed", "half"), [([77.4, 70.0], 0.05), ([91.80, 88.42], 0.005), ([40, 60], 0.5), ([100 * 0.784], 0.05)]
)
def test_half_a_unit_of_the_last_printed_digit(printed, half):
    assert last_digit(pd.Series([*printed, math.nan], dtype=float)) == pytest.approx(half)


def test_a_share_of_none_or_all_is_not_exact():
    assert share_variance(0.75, 400) == pytest.approx(0.75 * 0.25 / 400)
    assert [share_variance(share, 98) for share in (0.0, 1.0)] == pytest.approx([0.01 * 0.99 / 98] * 2)
    assert math.isnan(share_variance(1.5, 98))


# the noise of test data

SIZES = {"0": 300.0, "1": 100.0}


def rows(metrics, sizes=SIZES, worst="1"):
    """Rows of three seeds, and of groups, one of which is the worst."""
    own = {"paper_dataset": "cmnist", "paper_method": "cnc", "data": "cmnist", "selection": "best"}
    found = [own | {"seed": s, "metric": m, "group": "", "value": v} for s in range(3) for m, v in metrics.items()]
    return pd.DataFrame(
        found
        + [own | {"seed": s, "metric": "samples", "group": g, "value": n} for s in range(3) for g, n in sizes.items()]
        + [own | {"seed": s, "metric": "accuracy", "group": g, "value": g != worst} for s in range(3) for g in sizes]
    )


def number(metric, setting=""):
    return SimpleNamespace(metric=metric, dataset="cmnist", method="cnc", setting=setting)


def test_the_paper_s_official_test_split_has_no_noise_of_its_own():
    assert is_official("waterbirds") and is_official("celeba") and not is_official("cmnist+draw=1")
    assert sample_variance(number("worst_group_accuracy"), rows({"worst_group_accuracy": 0.5}), "waterbirds", None) == 0


def test_each_measure_has_the_variance_of_the_samples_behind_it():
    """Twice, in squared points: the paper's test split is another draw."""
    runs = rows({"worst_group_accuracy": 0.6, "average_accuracy": 0.9, "gap": 0.3})
    worst, average = 2e4 * 0.6 * 0.4 / 100, 2e4 * 0.9 * 0.1 / 400
    for metric, expected in (("worst_group_accuracy", worst), ("average_accuracy", average), ("gap", worst + average)):
        assert sample_variance(number(metric), runs, "cmnist", None) == pytest.approx(expected)
    no_samples = rows({"worst_group_accuracy": 0.6}, SIZES | {"2": 0.0})
    assert sample_variance(number("worst_group_accuracy"), no_samples, "cmnist", None) == pytest.approx(worst)


def test_the_noise_of_the_worst_group_is_of_its_own_samples_however_few_others_have():
    runs = rows({"worst_group_accuracy": 0.6}, worst="0")  # 300 samples; the other group has 100
    assert sample_variance(number("worst_group_accuracy"), runs, "cmnist", None) == pytest.approx(2e4 * 0.24 / 300)
    unknown = runs[runs["metric"] != "accuracy"]
    assert math.isnan(sample_variance(number("worst_group_accuracy"), unknown, "cmnist", None))


def test_test_splits_that_differ_by_seed_are_in_the_deviation_over_seeds_and_do_not_count_twice():
    runs = rows({"worst_group_accuracy": 0.6, "tpr_gap": 0.3})
    for metric in ("worst_group_accuracy", "tpr_gap"):
        assert sample_variance(number(metric), runs.assign(used_dataset="cmnist+draw=seed"), "cmnist", None) == 0
        assert sample_variance(number(metric), runs.assign(used_dataset="cmnist+draw=1"), "cmnist", None) != 0


def draw_noise(deviation):
    """Bootstrap values of three seeds, which vary together."""
    noise = np.random.default_rng(0).normal(0, deviation, 5000)
    drawn = rows({"tpr_gap": 0.3}, {}).drop(columns="value")
    return drawn.join(pd.DataFrame(np.tile(noise, (3, 1)), columns=[str(i) for i in range(5000)]))


def test_what_is_no_share_has_the_variance_of_its_bootstrap_values():
    drawn = draw_noise(0.02)
    assert sample_variance(number("tpr_gap"), rows({"tpr_gap": 0.3}), "cmnist", drawn) == pytest.approx(
        2e4 * 0.02**2, rel=0.05
    )
    assert math.isnan(sample_variance(number("tpr_gap"), rows({"tpr_gap": 0.3}), "cmnist", None))


def test_bootstrap_values_are_those_of_the_printed_settings_and_each_seed_counts_once():
    own, other = draw_noise(0.02).assign(ratio="1", method="con"), draw_noise(0.2).assign(ratio="10", method="con")
    asked, runs = number("tpr_gap", "ratio=1"), rows({"tpr_gap": 0.3})
    expected = sample_variance(asked, runs, "cmnist", own)
    for more in (other, own.assign(artifact="figure_2")):
        assert sample_variance(asked, runs, "cmnist", pd.concat([own, more])) == pytest.approx(expected)
    shared = draw_noise(0.02).loc[lambda drawn: drawn["seed"] == 0]
    assert math.isnan(sample_variance(number("tpr_gap"), runs, "cmnist", pd.concat([shared] * 3)))


# counts


def row(method, verdict, reported=1.0):
    return {
        "paper_dataset": "cmnist",
        "method": method,
        "setting": math.nan,
        "metric": "gap",
        "reported": reported,
        "verdict": verdict,
    }


def test_a_comparison_is_summed_up_in_one_line_that_counts_each_printed_number_once():
    table = [
        row("erm", "agrees"),
        row("erm", "differs"),
        row("cnc", "substitute data: not compared"),
        row("jtt", "not run here"),
        row("gdro", "fewer than 3 seeds: undecided"),
        row("lff", "too noisy"),
        row("eiil", "nothing printed", math.nan),
    ]
    assert summarize_verdicts(pd.DataFrame(table)) == (
        "5 printed numbers: 0 agree, 1 differ, 1 too noisy, 1 undecided (fewer than 3 seeds), 1 on substitute data, 1 "
        "not run here. "
        "Chance alone would make about 0.1 differ."
    )
    alone = "1 printed numbers: 0 agree, 0 differ, 1 on substitute data, 0 not run here."
    assert summarize_verdicts(pd.DataFrame([row("erm", "substitute data: not compared")])) == alone


def test_chance_alone_makes_one_of_twenty_compared_numbers_differ():
    kinds = {"agrees": 30, "differs": 6, "too noisy": 4, "substitute data": 100, "not run here": 100}
    assert differences_by_chance(kinds) == pytest.approx(2.0)


def test_what_compares_no_printed_numbers_has_no_such_line():
    unprinted = pd.DataFrame([row("eiil", "nothing printed", math.nan)])
    assert (
        summarize_verdicts(unprinted) == summarize_verdicts(pd.DataFrame({"claim": ["a"], "verdict": ["holds"]})) == ""
    )
