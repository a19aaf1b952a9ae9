"""Metrics of probabilities and of predicted classes are scikit-learn's, with weights of samples and equal scores."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.metrics import average_precision_score, brier_score_loss, f1_score, roc_auc_score

from despur.metrics import decisions, probabilities
from despur.metrics.decisions import macro_f1
from despur.metrics.fairness import demographic_parity_difference, equalized_odds_difference
from despur.metrics.probabilities import areas_under_curves, brier_score, calibration_error, class_areas
from despur.storage.store import Dataset

WEIGHTS = np.stack([np.ones(200), *np.random.default_rng(3).integers(0, 3, (3, 200))]).astype(float)


def case(classes):
    """Probabilities with many equal values, classes, attribute values and predictions."""
    rng = np.random.default_rng(classes)
    y, a = rng.integers(0, classes, 200), rng.integers(0, 3, 200)
    p = softmax(np.round(rng.normal(size=(200, classes)) + 1.5 * np.eye(classes)[y]), axis=1)
    return p, y, a, p.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
def test_brier_score_areas_and_f1_are_those_of_scikit_learn(classes):
    p, y, _, predicted = case(classes)
    score = p[:, 1] if classes == 2 else p
    found = brier_score(p, y, WEIGHTS), *class_areas(p, y, WEIGHTS), macro_f1(predicted, y, classes, WEIGHTS)
    for i, own in enumerate(WEIGHTS):
        expected = (
            brier_score_loss(y, score, sample_weight=own),
            roc_auc_score(y, score, sample_weight=own, multi_class="ovr"),
            average_precision_score(y, score, sample_weight=own),
            f1_score(y, predicted, average="macro", sample_weight=own),
        )
        assert [values[i] for values in found] == pytest.approx(expected)


def test_areas_are_not_defined_where_all_samples_are_positive_or_none_is():
    weights = np.array([[1.0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0]])
    roc, precision = areas_under_curves(np.array([0.9, 0.4, 0.3, 0.1]), np.array([True, True, False, False]), weights)
    assert np.isnan([*roc[:2], *precision[:2]]).all() and (roc[2], precision[2]) == (1, 1)


def test_a_class_that_neither_occurs_nor_is_predicted_does_not_count():
    assert macro_f1(np.array([0, 1]), np.array([0, 1]), 3) == 1
    assert macro_f1(np.array([0, 2]), np.array([0, 1]), 3) == pytest.approx(1 / 3)


def test_calibration_error_is_the_distance_of_confidence_and_accuracy_by_hand():
    p = np.array([[0.25, 0.75]] * 4)
    for right, expected in ((3, 0), (4, 0.25), (1, 0.5)):
        assert calibration_error(p, np.arange(4) < right) == pytest.approx(expected)
    mixed = np.array([[0.25, 0.75], [0.25, 0.75], [0.45, 0.55], [0.0, 1.0]])  # two in one bin, one each in others
    assert calibration_error(mixed, np.array([1, 0, 1, 1])) == pytest.approx((2 * 0.25 + 0.45 + 0) / 4)
    repeated = mixed[[0, 0, 2, 3]], np.array([1, 1, 1, 1])
    assert calibration_error(mixed, np.array([1, 0, 1, 1]), np.array([2.0, 0, 1, 1])) == calibration_error(*repeated)


def test_differences_by_hand():
    predicted, y, a = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [2, 0, 1], [1, 1, 1]]
    ).T
    assert demographic_parity_difference(predicted, a, 3) == pytest.approx(3 / 4 - 1 / 4)
    # of class 0: 1/2, 1/2 to class 0 and 1; of attribute value 1: 2/3 to class 0, 1/3 to class 2
    assert equalized_odds_difference(predicted, y, a, 3) == pytest.approx(1 / 2)
    weights = np.array([1.0, 0, 1, 1, 1, 1, 0, 1])  # then all are right
    assert equalized_odds_difference(predicted, y, a, 3, weights) == 0
    assert np.isnan(equalized_odds_difference(predicted, y, 0 * a, 3))


@pytest.mark.parametrize(("values", "has_differences"), [(2, True), (1, False)])
def test_differences_need_two_attribute_values(values, has_differences):
    p, y, a, _ = case(2)
    table = pd.DataFrame({"split": "test", "y": y, "a": a % values})
    dataset = Dataset(np.zeros((200, 0), np.float32), table, {}, None)
    metrics = {metric for metric, *_ in decisions.measure(dataset, np.arange(200), {"logits": np.log(p)}, WEIGHTS)}
    assert ({"demographic_parity_difference", "equalized_odds_difference"} <= metrics) == has_differences


@pytest.mark.parametrize("classes", [2, 11])
def test_a_run_has_them_over_all_samples_and_by_attribute_value(classes):
    p, y, a, _ = case(classes)
    table = pd.DataFrame({"split": np.repeat(["train", "test"], 100), "y": y, "a": a})
    about = {"classes": list(range(classes)), "attributes": ["r", "g", "b"]}
    dataset, outputs = Dataset(np.zeros((200, 0), np.float32), table, about, None), {"logits": np.log(p)}
    rows = dataset.rows("test")
    found = {
        (metric, group): np.atleast_1d(value)
        for module in (probabilities, decisions)
        for metric, group, value in module.measure(dataset, rows, outputs, WEIGHTS[:, :100])
    }
    assert {group for metric, group in found if metric == "auroc"} == {"", "r", "g", "b"}
    inside = rows[a[rows] == 1]
    assert found["brier_score", "g"][0] == pytest.approx(brier_score(p[inside], y[inside]))
    assert len(found["auroc", "g"]) == 1 and len(found["brier_score", ""]) == 4
    assert len(found["auroc", ""]) == (4 if classes == 2 else 1), "bootstrap samples only of few classes"
    assert not [*probabilities.measure(dataset, rows, {}, WEIGHTS), *decisions.measure(dataset, rows, {}, WEIGHTS)]
