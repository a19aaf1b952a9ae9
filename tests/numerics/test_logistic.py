"""Newton's method against scikit-learn's optimum."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from despur.numerics import logistic


def case(classes, shift, count=300, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count)
    z = rng.normal(size=(count, 5)) * [1, 2, 0.1, 30, 1] + [0, 5, 0, 0, -3]
    z[:, 0] += shift * labels
    return torch.from_numpy(z).float(), torch.from_numpy(labels)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("shift", [0.0, 1.0, 50.0])  # nothing to tell, overlapping, separable
@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_the_optimum_is_scikit_learns(classes, shift, penalty):
    z, labels = case(classes, shift)
    weight, bias = logistic.fit(z, labels, classes, penalty)
    found = (z @ weight.T + bias).softmax(dim=1)
    x = ((z - z.mean(dim=0)) / z.std(dim=0)).numpy()
    # of two classes scikit-learn fits one row of weights, of which each of ours is half: half the squared norm
    strength = 1 / (penalty * len(z)) * (2 if classes == 2 else 1)
    theirs = LogisticRegression(C=strength, max_iter=10_000, tol=1e-10).fit(x, labels.numpy()).predict_proba(x)
    np.testing.assert_allclose(found, theirs, atol=2e-3)
    assert (found > 0).all() and (found < 1).all()


def test_nothing_to_tell_gives_the_share_of_each_domain():
    z, labels = case(2, 0.0, count=4000)
    weight, bias = logistic.fit(z, labels, 2, 10.0)
    shares = torch.bincount(labels) / len(labels)
    torch.testing.assert_close((z @ weight.T + bias).softmax(dim=1), shares.expand(len(z), 2), atol=5e-3, rtol=0)


def test_a_feature_that_never_varies_is_no_trouble():
    z, labels = case(2, 1.0)
    z[:, 2] = 7.0
    weight, bias = logistic.fit(z, labels, 2, 1e-3)
    assert torch.isfinite(weight).all() and torch.isfinite(bias).all()
    assert ((z @ weight.T + bias).argmax(dim=1) == labels).float().mean() > 0.6


def test_a_batch_of_one_domain_says_so():
    z, labels = case(2, 0.0)
    weight, bias = logistic.fit(z, torch.zeros_like(labels), 2, 1e-3)
    assert ((z @ weight.T + bias).softmax(dim=1)[:, 0] > 0.99).all()
