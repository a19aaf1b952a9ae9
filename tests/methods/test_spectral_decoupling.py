"""Spectral decoupling: cross-entropy with a penalty on logits."""

import numpy as np
import pytest
from lookup import cross_entropies, gradient, log_softmax, random_case, tabled

RNG = np.random.default_rng


@pytest.mark.parametrize("weight", [0, 0.1, 3])
def test_loss_and_gradient_are_those_of_the_formula(weight):
    logits, y = random_case(0)
    method = tabled(f"spectral_decoupling+lambda={weight}", logits, y)
    batch = np.array([2, 5, 6, 11])
    losses = method.losses(batch, RNG(0))
    norms = (logits[batch] ** 2).sum(axis=1)
    assert losses["penalty"].item() == pytest.approx(norms.mean() / 2, rel=1e-5)
    assert losses["loss"].item() == pytest.approx(
        cross_entropies(logits, y)[batch].mean() + weight / 2 * norms.mean(), rel=1e-5
    )
    expected = (np.exp(log_softmax(logits)) - np.eye(3)[y] + weight * logits)[batch] / 4
    np.testing.assert_allclose(gradient(method, losses["loss"])[batch], expected, rtol=1e-4, atol=1e-6)
