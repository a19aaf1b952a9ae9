import numpy as np
import pytest

from despur.metrics import new_metric

LOGITS = np.array([[0.0, np.log(3)]] * 2)  # probability 3/4 of class 1


def test_the_mean_is_that_of_the_probabilities_by_hand():
    assert new_metric.mean_true_probability(LOGITS, np.array([1, 0]), np.ones(2)) == pytest.approx(0.5)


def test_a_weight_counts_as_repetition():
    values = new_metric.mean_true_probability(LOGITS, np.array([1, 0]), np.array([[3.0, 1.0], [0.0, 2.0]]))
    assert values == pytest.approx([0.625, 0.25])
