"""Selection rules on a made-up sweep."""

import numpy as np
import pandas as pd
import pytest
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st

from despur.metrics.selection import distance_to_optimum, near_best_accuracy, on_pareto_front, select, sweep_means

ACCURACY = np.array([0.80, 0.795, 0.78, 0.60, 0.795])
GAP = np.array([0.30, 0.20, 0.10, 0.02, 0.20])


@pytest.mark.parametrize(("margin", "position"), [(0.0, 0), (0.004, 0), (0.006, 1), (0.021, 2), (0.5, 3)])
def test_the_lowest_gap_within_a_margin_of_the_best_accuracy(margin, position):
    assert near_best_accuracy(ACCURACY, GAP, margin) == position


def test_of_equal_gaps_the_more_accurate_is_taken():
    assert near_best_accuracy(np.array([0.7, 0.72, 0.71]), np.full(3, 0.1), 0.05) == 1


def test_distance_to_optimum_by_hand():
    found = distance_to_optimum(np.array([0.8, 0.4]), np.array([0.5, 1.0]))
    np.testing.assert_allclose(found, [0.5, 0.5])
    np.testing.assert_allclose(distance_to_optimum(np.array([0.7]), np.array([0.6]), best=(1.0, 1.0)), [0.5])


def test_the_pareto_front_by_the_papers_footnote():
    assert on_pareto_front(ACCURACY, GAP).tolist() == [True] * 5
    assert on_pareto_front(np.array([0.8, 0.7, 0.7, 0.6]), np.array([0.2, 0.3, 0.2, 0.1])).tolist() == [
        True,
        False,
        True,
        True,
    ]


@quick
@given(st.lists(st.tuples(st.floats(0.1, 1), st.floats(0, 0.9)), min_size=1, max_size=8), st.floats(0, 0.5))
def test_what_dto_selects_is_on_the_pareto_front(points, beyond):
    accuracy, gap = np.array(points).T
    # of several methods: not nearer than the method's own
    optimum = (float(accuracy.max()) + beyond, float(1 - gap.min()) + beyond)
    for best in (None, optimum):
        assert on_pareto_front(accuracy, gap)[distance_to_optimum(accuracy, 1 - gap, best).argmin()]


def metrics():
    rows = []
    for temperature, ratio, accuracy, gap in [(0.1, 1, 0.80, 0.30), (0.1, 10, 0.78, 0.10), (1.0, 1, 0.795, 0.25)]:
        for seed, off in enumerate((-0.002, 0.002)):
            for split, shift in (("val", 0.0), ("test", 0.1 * (temperature == 1.0))):  # test data would pick another
                for name, value in (
                    ("average_accuracy", accuracy + off + shift),
                    ("gap", gap - shift),
                    ("accuracy", 0.0),
                ):
                    rows += [
                        {
                            "temperature": temperature,
                            "ratio": ratio,
                            "seed": seed,
                            "split": split,
                            "selection": s,
                            "metric": name,
                            "value": v,
                        }
                        for s, v in (("best", value), ("last", 0.5))
                    ]
    return pd.DataFrame(rows)


def test_a_setting_is_picked_from_validation_means_over_seeds():
    means = sweep_means(metrics(), ["temperature", "ratio"], "val")
    assert means.loc[(0.1, 1), "average_accuracy"] == pytest.approx(0.80) and len(means) == 3
    assert select(means, margin=0.01) == (1.0, 1)
    assert select(means, margin=0.03) == select(means, "dto") == (0.1, 10)
    assert select(sweep_means(metrics(), ["temperature"], "val"), "dto") == (0.1,)
    assert select(means, "dto", best=(0.8, 0.7)) == (0.1, 1)
    with pytest.raises(ValueError, match="best"):
        select(means, "best")


@pytest.mark.parametrize("rule", ["near_best_accuracy", "dto"])
def test_a_setting_without_a_gap_is_not_selected(rule):
    means = pd.DataFrame({"average_accuracy": [0.99, 0.9, 0.8], "gap": [np.nan, 0.1, 0.5]}, index=["none", "a", "b"])
    assert select(means, rule) == ("a",)
    with pytest.raises(ValueError, match="no setting has an accuracy and a GAP"):
        select(means.iloc[:1], rule)
