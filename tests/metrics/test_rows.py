"""Rows of metrics.csv: what is measured on standardized representations."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, recall_score

from despur.metrics.probes import standardize
from despur.metrics.rows import count_samples, measure_accuracies, measure_attackers
from despur.storage.store import Dataset


def cases(count=120):
    """A data set of two classes and three attribute values, and representations with both and a constant dimension."""
    rng = np.random.default_rng(0)
    y, a = rng.integers(0, 2, 2 * count), rng.integers(0, 3, 2 * count)
    table = pd.DataFrame({"split": np.repeat(["train", "test"], count), "y": y, "a": a})
    about = {"classes": ["3", "5"], "attributes": ["r", "g", "b"]}
    z = np.column_stack([y, a == 0, a == 1, np.zeros_like(y)]) + rng.normal(0, [0.7, 0.5, 0.6, 0], (2 * count, 4))
    return Dataset(np.zeros((2 * count, 0), np.float32), table, about, None), z


def measured(dataset, z):
    """Metrics over all test samples, and over the first half of them, by name."""
    rows = dataset.rows("test")
    weights = np.stack([np.ones(len(rows)), np.arange(len(rows)) < len(rows) // 2]).astype(float)
    return {metric: value for metric, _, value in measure_attackers(dataset, rows, z, 0, weights)}


COMPANIONS = {
    "leakage_representations_standardized": "leakage_representations",
    "mutual_information_class_standardized_half": "mutual_information_class_half",
    "mutual_information_attribute_standardized_half": "mutual_information_attribute_half",
}


def test_standardized_companions_do_not_depend_on_the_scale_of_dimensions():
    dataset, z = cases()
    found, scaled = measured(dataset, z), measured(dataset, z * [1e-3, 7, 0.01, 1] + [5, 0, -1, 2])
    for companion, plain in COMPANIONS.items():
        assert scaled[companion] == pytest.approx(found[companion], rel=1e-6)
        assert np.abs(scaled[plain] - found[plain]).max() > 0.02


def test_on_standardized_inputs_companions_are_the_plain_metrics():
    dataset, z = cases()
    found = measured(dataset, standardize(z, dataset.rows("train")))
    raw = measured(dataset, z)
    for companion, plain in COMPANIONS.items():
        assert found[companion] == pytest.approx(found[plain], rel=1e-6)
        assert raw[companion] == pytest.approx(found[plain], rel=1e-6)


def test_the_worst_class_and_the_mean_of_classes_are_scikit_learns():
    dataset, _ = cases()
    rows = dataset.rows("test")
    dataset.groups = np.eye(6, dtype=bool)[3 * dataset.y + dataset.table["a"].to_numpy()]
    dataset.about["groups"] = list("abcdef")
    codes = (np.random.default_rng(1).random(len(rows)) < 0.2 + 0.3 * dataset.y[rows]).astype(int)
    weights = np.stack([np.ones(len(rows)), np.arange(len(rows)) % 3]).astype(float)
    measured_rows = [*measure_accuracies(dataset, rows, codes, weights)]
    found = {metric: value for metric, group, value in measured_rows if not group}
    of_classes = {group: value for metric, group, value in measured_rows if metric == "class_average_accuracy"}
    assert [*count_samples(dataset, rows)] == [row for row in measured_rows if row[0] == "samples"]
    y, predicted = dataset.y[rows], (dataset.y[rows] + codes) % 2
    for i, own in enumerate(weights):
        recalls = recall_score(y, predicted, average=None, sample_weight=own)
        assert [of_classes[name][i] for name in dataset.about["classes"]] == pytest.approx(recalls)
        assert found["worst_class_accuracy"][i] == pytest.approx(recalls.min())
        assert found["balanced_accuracy"][i] == pytest.approx(balanced_accuracy_score(y, predicted, sample_weight=own))
    assert found["largest_gap"][0] >= found["gap"][0] > 0
