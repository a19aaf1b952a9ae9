import math

import pandas as pd
import pytest

from despur.reporting.verdicts import agrees, summary

# 3^2/3 + 1.5^2/3 + 1e4 * .75 * .25 / 400 = 3 + 0.75 + 4.6875 = 8.4375; two standard deviations are 5.8095
CASE = {"reported_std": 3.0, "reported_seeds": 3, "ours": 75.0, "ours_std": 1.5, "seeds": 3, "samples": 400}


@pytest.mark.parametrize(
    ("reported", "verdict"), [(75.0, True), (80.8, True), (80.82, False), (69.2, True), (69.18, False)]
)
def test_two_standard_deviations_of_the_difference_decide(reported, verdict):
    assert agrees(reported, **CASE) is verdict


@pytest.mark.parametrize(
    ("change", "reported", "verdict"),
    [
        ({"reported_std": None}, 79.6, True),  # 0.75 + 4.6875: 4.664
        ({"reported_std": None}, 79.7, False),
        ({"reported_seeds": 12}, 79.9, True),  # 0.75 + 0.75 + 4.6875: 4.975
        ({"reported_seeds": 12}, 80.0, False),
        ({"seeds": 12}, 80.6, True),  # 3 + 0.1875 + 4.6875: 5.612
        ({"seeds": 12}, 80.7, False),
        ({"samples": 40_000}, 78.8, True),  # 3 + 0.75 + 0.046875: 3.897
        ({"samples": 40_000}, 78.9, False),
    ],
)
def test_each_term_of_the_variance_counts(change, reported, verdict):
    assert agrees(reported, **(CASE | change)) is verdict


def test_one_seed_decides_nothing():
    assert agrees(75.0, **(CASE | {"seeds": 1, "ours_std": 0.0})) is None
    assert agrees(0.0, **(CASE | {"seeds": 1, "ours_std": 0.0})) is None


def test_without_any_spread_only_equal_numbers_agree():
    exact = {"reported_std": 0.0, "reported_seeds": 3, "ours_std": 0.0, "seeds": 3, "samples": 400}
    assert agrees(0.0, ours=0.0, **exact) is True
    assert agrees(0.1, ours=0.0, **exact) is False
    assert agrees(99.9, ours=100.0, **exact) is False


def test_a_larger_difference_never_turns_into_agreement():
    verdicts = [agrees(75.0 + gap / 10, **CASE) for gap in range(200)]
    assert verdicts == sorted(verdicts, reverse=True)
    assert {True, False} == set(verdicts)


def test_direction_does_not_matter():
    for gap in (1.0, 5.8, 5.82, 20.0):
        assert agrees(75.0 + gap, **CASE) is agrees(75.0 - gap, **CASE)


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
    rows = [
        row("erm", "agrees"),
        row("erm", "differs"),
        row("cnc", "stand-in: not compared"),
        row("jtt", "not run here"),
        row("gdro", "one seed: undecided"),
        row("eiil", "nothing printed", math.nan),
    ]
    expected = "4 printed numbers: 0 agree, 1 differ, 1 undecided (one seed), 1 stand-in, 1 not run here."
    assert summary(pd.DataFrame(rows)) == expected
    assert (
        summary(pd.DataFrame([row("erm", "agrees")]))
        == "1 printed numbers: 1 agree, 0 differ, 0 stand-in, 0 not run here."
    )


def test_what_compares_no_printed_numbers_has_no_such_line():
    assert (
        summary(pd.DataFrame([row("eiil", "nothing printed", math.nan)]))
        == summary(pd.DataFrame({"claim": ["a"], "verdict": ["holds"]}))
        == ""
    )
