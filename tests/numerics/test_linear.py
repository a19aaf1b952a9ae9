"""Linear classifiers against scikit-learn."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from despur.numerics.linear import liblinear, logistic, support_vectors


def case(count, dim, values, apart, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % values
    labels[: count // 3] = 0  # unbalanced
    return apart * np.eye(max(dim, values))[labels][:, :dim] + rng.normal(size=(count, dim)), labels


@pytest.mark.parametrize(
    ("count", "dim", "values", "apart"),
    [(300, 3, 3, 10), (600, 5, 2, 1), (40, 1, 2, 1), (900, 20, 4, 0.3), (30, 60, 2, 1)],
)
def test_support_vectors_are_those_of_liblinear(count, dim, values, apart):
    x, labels = case(count, dim, values, apart)
    slow = LinearSVC(C=0.1, class_weight="balanced", dual=False, max_iter=100_000, tol=1e-8).fit(x, labels)
    found, weights, biases = support_vectors(x, labels + 7)
    weight, bias = (
        (slow.coef_, slow.intercept_)
        if values > 2
        else (np.concatenate([-slow.coef_, slow.coef_]), [-slow.intercept_[0], slow.intercept_[0]])
    )
    assert found.tolist() == [7 + v for v in range(values)]
    np.testing.assert_allclose(weights, weight, atol=2e-4)
    np.testing.assert_allclose(biases, bias, atol=2e-4)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("intercept", [True, False])
def test_logistic_gives_the_probabilities_of_scikit_learn(classes, intercept):
    x, y = case(300, 6, classes, 1.5)
    weights, biases = logistic(x, y, classes, 0.5, intercept=intercept)
    odds = np.exp(x @ weights.T + biases)
    slow = LogisticRegression(C=0.5, fit_intercept=intercept, max_iter=10_000).fit(x, y).predict_proba(x)
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), slow, atol=1e-6)
    assert intercept or not biases.any()


def test_an_l1_penalty_leaves_out_what_says_nothing():
    x, y = case(400, 30, 2, 3)
    weights, _ = liblinear(x, y, 2, 0.02, "l1")
    assert (weights[:, :2] != 0).all() and (weights[:, 2:] == 0).mean() > 0.8


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_liblinear_minimizes_the_logistic_loss_with_weights_and_bias_penalized(classes, penalty):
    """The conditions of the minimum: the gradient of C times the summed loss is minus that of the penalty; where an l1
    penalty makes a value 0, it lies between -1 and 1."""
    x, y = case(300, 6, classes, 1.5)
    strength, rows = 0.1, np.column_stack([x, np.ones(300)])
    weights, biases = liblinear(x, y, classes, strength, penalty)
    for label, found in enumerate(np.column_stack([weights, biases])):
        found = 2 * found if classes == 2 else found  # two rows share the logit
        sign = np.where(y == label, 1, -1)
        gradient = -strength * (sign / (1 + np.exp(sign * (rows @ found)))) @ rows
        if penalty == "l2":
            np.testing.assert_allclose(gradient, -found, atol=2e-2)
        else:
            np.testing.assert_allclose(gradient[found != 0], -np.sign(found[found != 0]), atol=2e-2)
            assert (np.abs(gradient[found == 0]) <= 1.02).all()


def test_a_class_without_samples_is_refused():
    x, y = case(30, 3, 2, 1)
    for fit in (logistic, partial(liblinear, strength=1.0, penalty="l2")):
        with pytest.raises(ValueError, match="class 2"):
            fit(x, y, 3)
