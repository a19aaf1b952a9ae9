"""Accuracies, mutual information and calibration error are torchmetrics'."""

import numpy as np
import pytest
import torch

from despur.metrics.groups import group_accuracies, weighted_average
from despur.metrics.information import mutual_information
from despur.metrics.probabilities import BINS, calibration_error

metrics = pytest.importorskip("torchmetrics.functional", reason="torchmetrics is not installed (make test-oracles)")


def predictions(classes=4, count=200):
    rng = np.random.default_rng(0)
    y = rng.choice(classes, count, p=[0.4, 0.3, 0.2, 0.1])
    return y, np.where(rng.random(count) < 0.3, rng.integers(0, classes, count), y)


def test_accuracies_of_classes_and_their_averages():
    y, predicted = predictions()
    classes, sizes = np.eye(4, dtype=bool)[y], np.bincount(y)
    given = torch.from_numpy(predicted), torch.from_numpy(y), "multiclass"
    each = metrics.accuracy(*given, num_classes=4, average="none")
    np.testing.assert_allclose(group_accuracies(predicted == y, classes), each, rtol=1e-6)
    for average, weights in (("macro", np.ones(4)), ("micro", sizes)):
        expected = metrics.accuracy(*given, num_classes=4, average=average).item()
        assert weighted_average(predicted == y, classes, weights) == pytest.approx(expected)


def test_mutual_information_of_clusters_far_apart_is_that_of_their_numbers():
    """There the regression knows the shares of labels in each cluster, and Eq. 18 is the empirical information."""
    from torchmetrics.functional.clustering import mutual_info_score

    y, cluster = predictions()
    expected = mutual_info_score(torch.from_numpy(cluster), torch.from_numpy(y)).item()
    assert mutual_information(100 * np.eye(4)[cluster], y) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("classes", [2, 5])
def test_calibration_error(classes):
    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(classes), 300), rng.integers(0, classes, 300)
    given = {"num_classes": classes, "n_bins": BINS, "norm": "l1"}
    expected = metrics.calibration_error(torch.from_numpy(p), torch.from_numpy(y), "multiclass", **given).item()
    assert calibration_error(p, y) == pytest.approx(expected, rel=1e-5)
