"""Numbers: equivalence by hand and by scipy, what would decide, counts of distinct verdicts."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from despur.evidence.numbers.counts import count_numbers, count_standing, summarize_verdicts
from despur.evidence.numbers.sample_noise import is_official, sample_variance
from despur.evidence.numbers.verdicts import judge_count, judge_logarithms, judge_values, last_digit, share_variance
from despur.evidence.statistics.contrasts import LEVEL
from despur.evidence.statistics.equivalence import PrintedValue, assume_deviation, measure_difference
from despur.evidence.statistics.multiplicity import adjust_false_discoveries, adjust_holm, find_p_value
from despur.evidence.verdicts import NumberVerdict

TIGHT = np.array([-0.1, 0.0, 0.1])  # deviation .1


@pytest.mark.parametrize(
    ("theirs", "their_seeds", "ours"), [(3.0, 3, [1.0, 2.5, 4.0]), (0.5, 10, [3.0, 5.0, 7.5, 9.0])]
)
def test_the_interval_of_a_difference_is_welch_s(theirs, their_seeds, ours):
    ours = np.array(ours)
    found = judge_values(ours, PrintedValue(2.0, theirs, their_seeds))
    printed = np.resize([-1.0, 1.0], their_seeds)
    printed = 2 + theirs * (printed - printed.mean()) / printed.std(ddof=1)  # with just this mean and deviation
    expected = stats.ttest_ind(ours, printed, equal_var=False).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))


def test_without_a_printed_deviation_the_printed_number_is_taken_as_fixed():
    found = judge_values(np.array([1.0, 2.0, 4.0]), PrintedValue(2.0, None, 5))
    expected = stats.ttest_1samp([1.0, 2.0, 4.0], 2.0).confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((expected.low - 2, expected.high - 2))


@pytest.mark.parametrize(
    ("shift", "verdict"),
    [
        (0.0, "within 2"),
        (1.3, "within 2"),  # the half-width is 11.113 * 0.1 / sqrt(3) = 0.642
        (1.4, "within 5"),
        (-4.3, "within 5"),
        (4.4, "not known"),
        (5.6, "not known"),
        (5.7, "beyond 5"),
        (-5.7, "beyond 5"),
    ],
)
def test_the_whole_interval_decides(shift, verdict):
    assert judge_values(TIGHT + shift, PrintedValue(0.0, None, 5))["verdict"] == verdict


def test_tolerances_are_points_of_percentages_and_percent_of_all_else():
    for scale, unit in ((1.0, "percent"), (0.01, "fraction"), (10.0, "count")):  # 1,000 printed: 10 are one percent
        number = 1000.0 if unit == "count" else 50.0 * scale
        printed = PrintedValue(number, None, 1)
        verdicts = [judge_values(number + scale * (TIGHT + d), printed, unit=unit)["verdict"] for d in (1, 4, 9)]
        assert verdicts == ["within 2", "within 5", "beyond 5"], unit
        # an interval is in the number's unit
        found = judge_values(number + scale * TIGHT, printed, test_variance=(0.3 * scale) ** 2, unit=unit)
        half = math.hypot(stats.t.isf(0.025, 2) * 0.1 / math.sqrt(3), stats.norm.isf(0.025) * 0.3)
        assert found["high"] == pytest.approx(scale * half), unit


def test_the_interval_around_a_negative_number_has_its_ends_in_order():
    found = judge_values(-1000 + 10 * TIGHT, PrintedValue(-1000.0, None, 5), unit="count")
    assert found["low"] < 0 < found["high"] and found["verdict"] == "within 2"


def test_the_verdict_of_normal_seeds_is_that_of_the_90_percent_interval():
    for shift, verdict in ((1.8, "within 2"), (1.85, "within 5")):  # the half-width is 2.920 * 0.1 / sqrt(3) = 0.169
        found = judge_values(TIGHT + shift, PrintedValue(0.0, None, 5))
        assert (found["verdict"], found["if_normal"]) == ("within 5", verdict)


def test_a_ratio_is_compared_by_logarithms():
    found = judge_logarithms(np.log([1.00, 1.01, 1.02]), 1.0, 5, 0.0, 0.0)
    assert found["difference"] == pytest.approx(1.01 - 1, abs=1e-4) and found["low"] < 0.0 < found["high"]
    assert judge_logarithms(np.log([2.00, 2.01, 2.02]), 1.0, 5, 0.0, 0.0)["verdict"] == "beyond 5"


def test_the_interval_of_a_ratio_is_that_of_its_logarithm_and_so_are_test_data_and_rounding():
    logs, test_variance = np.log([2.1, 2.2, 2.4]), 0.03**2
    found = judge_logarithms(logs, 2.0, 5, test_variance, 0.0)
    half = math.hypot(stats.t.isf(0.025, 2) * logs.std(ddof=1) / math.sqrt(3), stats.norm.isf(0.025) * 0.03)
    expected = [2 * math.expm1(logs.mean() - math.log(2) + end) for end in (-half, 0, half)]
    assert [found[name] for name in ("low", "difference", "high")] == pytest.approx(expected)
    near = math.log(4) + TIGHT / 100  # a half-width of .64 %
    rounded = [judge_logarithms(near, 4.0, 5, 0.0, rounding)["verdict"] for rounding in (0.05, 0.06, 0.17, 0.18)]
    assert rounded == ["within 2", "within 5", "within 5", "not known"]  # and 1.24, 1.49, 4.16, 4.40 %


def test_rounding_and_test_data_widen_an_interval():
    assert judge_values(TIGHT + 1.3, PrintedValue(0.0, None, 5, rounding=0.5))["verdict"] == "within 5"
    assert judge_values(TIGHT + 5.7, PrintedValue(0.0, None, 5, rounding=0.5))["verdict"] == "not known"
    assert PrintedValue(0.5, 0.1, 3, 0.005).scale(100) == PrintedValue(50, 10, 3, 0.5)
    assert judge_values(TIGHT, PrintedValue(0.0, None, 5), test_variance=9.0)["verdict"] == "not known"
    unknown = judge_values(TIGHT, PrintedValue(0.0, None, 5), test_variance=math.nan)
    assert unknown["verdict"] == "not known" and "test data" in unknown["would_decide"]


def test_what_does_not_vary_here_nor_in_print_is_as_printed_or_not():
    def verdict(values, mean=0.0, std=0.0, rounding=0.0):
        return judge_values(np.array(values), PrintedValue(mean, std, 3, rounding))["verdict"]

    assert verdict([0.0, 0.0, 0.0]) == verdict([99.96] * 3, mean=100.0, rounding=0.05) == "as printed"
    assert verdict([0.0, 0.0, 0.0], mean=0.1) == "not as printed"
    assert verdict([0.0, 0.0, 0.0], std=0.1) == verdict([0.0, 0.0, 0.0], std=None) == "not known"  # print may vary
    assert verdict([0.0, 0.0, 90.0]) == verdict([0.0, 0.0]) == "not known"


def test_what_is_not_known_says_what_would_decide_it():
    def advise(values, std=None, seeds=5):
        found = judge_values(np.array(values), PrintedValue(0.0, std, seeds))
        assert found["verdict"] == "not known"
        return found["would_decide"]

    assert advise([1.0, 2.0]) == "at least 3 seeds"
    assert advise([0.0, 0.0, 0.0]).startswith("nothing: all seeds are equal")
    assert advise([-1.0, 0.0, 1.0], 9.0, 3).startswith("nothing: the paper's own seeds")
    for deviation in (1.0, 3.0):
        about = advise([-deviation, 0.0, deviation])
        n = int(about.removeprefix("about ").split()[0])
        half = [deviation * stats.t.isf(LEVEL, m - 1) / math.sqrt(m) for m in (n - 1, n)]
        assert half[0] > 5 > half[1]  # as many seeds as bring the half-width below 5
    assert "close to 5" in advise([4.4, 5.4, 5.2])


def test_a_deviation_of_seeds_that_are_not_said_counts_as_if_of_ours():
    ours = np.array([1.0, 2.0, 4.0])
    own_variance = ours.var(ddof=1) / 3
    freedom = (own_variance + 0.25) ** 2 / (own_variance**2 / 2 + 0.25**2 / 2)
    assert measure_difference(ours, PrintedValue(0.0, 0.5, 1)).seed_freedom == pytest.approx(freedom)


def test_the_assumed_deviation_is_three_times_ours():
    found = measure_difference(np.array([1.0, 2.0, 4.0]), PrintedValue(0.0, None, 5))
    assumed = assume_deviation(found, 5)
    deviation = np.std([1.0, 2.0, 4.0], ddof=1)
    assert float(assumed.half_width(0.05)) == pytest.approx(stats.t.isf(0.05, 2) * deviation * math.sqrt(1 / 3 + 9 / 5))


def test_p_values_are_the_levels_at_which_a_verdict_is_given():
    found = judge_values(TIGHT + 1.0, PrintedValue(0.0, None, 5))
    t = (2 - 1) / (0.1 / math.sqrt(3))
    assert found["p_within_2"] == pytest.approx(stats.t.sf(t, 2), rel=2e-3) and found["p_beyond_5"] == 1.0
    assert find_p_value(lambda level: np.array(level >= 0.01)) == pytest.approx(0.01, rel=2e-3)


def test_false_discoveries_and_holm_are_those_of_scipy_and_of_the_definition():
    p_values = np.array([0.01, math.nan, 0.04, 0.03, 0.5])
    known = ~np.isnan(p_values)
    assert adjust_false_discoveries(p_values)[known] == pytest.approx(stats.false_discovery_control(p_values[known]))
    assert adjust_holm(p_values)[known] == pytest.approx([0.05, 0.12, 0.12, 1])  # 5 x .01, 4 x .03, 3 x .04, 2 x .5
    assert np.isnan(adjust_holm(p_values)[1]) and len(adjust_holm(np.array([]))) == 0


def test_what_is_counted_is_compared_to_the_last_printed_digit():
    verdicts = [judge_count(100.0, printed, 0.5)["verdict"] for printed in (100.0, 100.5, 101.0)]
    assert verdicts == ["as printed", "as printed", "not as printed"]


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
    asked = number("tpr_gap"), rows({"tpr_gap": 0.3}), "cmnist"
    assert sample_variance(*asked, drawn) == pytest.approx(2e4 * 0.02**2, rel=0.05)
    assert math.isnan(sample_variance(*asked, None))


def test_bootstrap_values_are_those_of_the_printed_settings_and_each_seed_counts_once():
    own, other = draw_noise(0.02).assign(ratio="1", method="con"), draw_noise(0.2).assign(ratio="10", method="con")
    asked, runs = number("tpr_gap", "ratio=1"), rows({"tpr_gap": 0.3})
    expected = sample_variance(asked, runs, "cmnist", own)
    last = draw_noise(0.2).assign(ratio="1", method="con", selection="last")
    assert sample_variance(asked, runs, "cmnist", pd.concat([last, own])) == pytest.approx(expected)
    for more in (other, own.assign(artifact="figure_2")):
        assert sample_variance(asked, runs, "cmnist", pd.concat([own, more])) == pytest.approx(expected)
    shared = draw_noise(0.02).loc[lambda drawn: drawn["seed"] == 0]
    assert math.isnan(sample_variance(number("tpr_gap"), runs, "cmnist", pd.concat([shared] * 3)))


# counts


def row(method, verdict, reported=1.0, **more):
    own = {"paper_dataset": "cmnist", "method": method, "setting": math.nan, "metric": "gap", "reported": reported}
    return own | {"verdict": verdict, **more}


def test_a_comparison_is_summed_up_in_one_line_that_counts_each_printed_number_once():
    verdicts = [("erm", "within 2"), ("erm", "beyond 5"), ("cnc", "not known"), ("jtt", "not run here")]
    table = pd.DataFrame([*(row(*pair) for pair in verdicts), row("lff", "not compared", math.nan)])
    assert summarize_verdicts(table) == "3 printed numbers: 1 beyond 5, 1 not known, 1 not run here."
    assert summarize_verdicts(table.drop(columns="reported")) == "" == summarize_verdicts(table[:0])
    assert {name: count for name, count in count_numbers(table).items() if count}["beyond 5"] == 1


def test_a_verdict_that_is_no_verdict_is_refused():
    with pytest.raises(ValueError, match="agrees"):
        count_numbers(pd.DataFrame([row("erm", "agrees")]))


def test_verdicts_stand_by_the_rate_of_false_discoveries_among_all_that_were_compared():
    p_values = [0.00003, 0.0009, 0.5, 0.6]  # of bounds: for skewed seeds .004 and .024
    verdicts = [NumberVerdict.WITHIN_5, NumberVerdict.WITHIN_5, NumberVerdict.NOT_KNOWN, NumberVerdict.BEYOND_5]
    rows = [
        row(str(i), v, p_within_5=p, p_within_2=1.0, p_beyond_5=p)
        for i, (v, p) in enumerate(zip(verdicts, p_values, strict=True))
    ]
    assert count_standing(pd.DataFrame(rows)) == {"within 2": 0, "within 5": 2, "beyond 5": 0}
