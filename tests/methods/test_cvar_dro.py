"""CVaR DRO: the mean of the worst fraction, and its dual."""

import numpy as np
import pytest
import torch
from helpers import quick
from hypothesis import given
from hypothesis import strategies as st
from lookup import cross_entropies, gradient, random_case, tabled

from despur.losses import cvar

losses = st.lists(st.floats(0, 50), min_size=1, max_size=30)


def dual(values, alpha):
    """min over eta of eta + E[(loss - eta)+] / alpha (Rockafellar and Uryasev): convex, piecewise linear, kinks at the
    losses."""
    return min(eta + np.maximum(values - eta, 0).mean() / alpha for eta in values)


@quick
@given(losses, st.floats(0.01, 1))
def test_cvar_is_the_minimum_of_its_dual(values, alpha):
    values = np.array(values)
    assert cvar(torch.from_numpy(values), alpha).item() == pytest.approx(dual(values, alpha), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [(1, 2.5), (0.75, 3), (0.5, 3.5), (0.25, 4), (0.1, 4), (0.6, (4 + 3 + 0.4 * 2) / 2.4), (0.3, (4 + 0.2 * 3) / 1.2)],
)
def test_a_fractional_count_takes_the_fraction_of_the_last(alpha, expected):
    assert cvar(torch.tensor([2.0, 4.0, 1.0, 3.0]), alpha).item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.1, 0.35, 1])
def test_the_gradient_is_a_weight_of_at_most_one_over_alpha_b_on_the_worst(alpha):
    values = torch.from_numpy(np.random.default_rng(0).permutation(10) + 1.0).requires_grad_()
    weights = torch.autograd.grad(cvar(values, alpha), values)[0].numpy()
    assert weights.sum() == pytest.approx(1)
    assert weights.max() == pytest.approx(1 / (alpha * 10)) and weights.min() >= 0
    order = np.argsort(-values.detach().numpy())
    assert (np.diff(weights[order]) <= 0).all()
    assert (weights > 1e-12).sum() == int(np.ceil(alpha * 10))


def test_the_method_minimizes_the_cvar_of_a_mini_batch():
    logits, y = random_case(0)
    method = tabled("cvar_dro+alpha=0.35", logits, y)
    batch = np.array([3, 0, 7, 8, 11])
    found = method.losses(batch, np.random.default_rng(0))
    each = cross_entropies(logits, y)[batch]
    assert found["loss"].item() == pytest.approx(dual(each, 0.35), rel=1e-5)
    assert found["mean_loss"].item() == pytest.approx(each.mean(), rel=1e-5)
    moved = gradient(method, found["loss"]).abs().sum(dim=1) > 0
    assert set(np.flatnonzero(moved)) == set(batch[np.argsort(-each)[:2]])  # .35 x 5 = 1.75 samples count
