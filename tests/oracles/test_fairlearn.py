"""Accuracies of groups and gaps are fairlearn's."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

from despur.metrics.fairness import demographic_parity_difference, equalized_odds_difference, largest, tpr_gap, tpr_gaps
from despur.metrics.groups import group_accuracies, worst_group_accuracy

metrics = pytest.importorskip("fairlearn.metrics", reason="fairlearn is not installed (make test-oracles)")


def predictions(classes, values, count=300):
    rng = np.random.default_rng(classes)
    y, a = rng.integers(0, classes, count), rng.integers(0, values, count)
    wrong = rng.random(count) < 0.2 + 0.1 * a
    return y, np.where(wrong, rng.integers(0, classes, count), y), a


@pytest.mark.parametrize("weighted", [False, True])
def test_accuracies_of_groups_and_the_worst(weighted):
    y, predicted, a = predictions(3, 2)
    counts = np.random.default_rng(0).integers(0, 4, len(y)) if weighted else np.ones(len(y))
    frame = metrics.MetricFrame(
        metrics=accuracy_score, y_true=y, y_pred=predicted, sensitive_features=3 * a + y,
        sample_params={"sample_weight": counts},
    )  # fmt: skip
    groups = np.eye(6, dtype=bool)[3 * a + y]
    np.testing.assert_allclose(group_accuracies(predicted == y, groups, counts), frame.by_group)
    np.testing.assert_allclose(worst_group_accuracy(predicted == y, groups, counts), frame.group_min())


@pytest.mark.parametrize("values", [2, 3])
def test_gap_of_two_classes_is_made_of_the_differences_of_equalized_odds(values):
    y, predicted, a = predictions(2, values)
    of = {"y_true": y, "y_pred": predicted, "sensitive_features": a}
    rates = [metrics.true_positive_rate_difference(**of), metrics.false_positive_rate_difference(**of)]
    assert tpr_gap(predicted, y, a) == pytest.approx(np.sqrt(np.square(rates).mean()))
    assert metrics.equalized_odds_difference(**of) == pytest.approx(largest(tpr_gaps(predicted, y, a)))


@pytest.mark.parametrize("values", [2, 3])
def test_differences_of_two_classes(values):
    y, predicted, a = predictions(2, values)
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    of = {"y_true": y, "y_pred": predicted, "sensitive_features": a, "sample_weight": weights}
    parity, odds = metrics.demographic_parity_difference(**of), metrics.equalized_odds_difference(**of)
    assert demographic_parity_difference(predicted, a, 2, weights) == pytest.approx(parity)
    assert equalized_odds_difference(predicted, y, a, 2, weights) == pytest.approx(odds)


def test_gap_of_many_classes_is_the_root_mean_square_of_equal_opportunity_differences():
    y, predicted, a = predictions(5, 3, count=2000)
    each = [
        metrics.equal_opportunity_difference(y_true=y == label, y_pred=predicted == label, sensitive_features=a)
        for label in range(5)
    ]
    assert tpr_gap(predicted, y, a) == pytest.approx(np.sqrt(np.square(each).mean()))
