"""Environment inference of EIIL: its formula against autograd, its optimizer against torch's, its answer against
enumeration."""

import itertools

import numpy as np
import pytest
import torch
from helpers import evidence

from despur.inference import eiil
from despur.specs.declarations import list_components, read_declarations
from despur.specs.resolution import resolve

DEFAULTS = {key: setting.default for key, setting in read_declarations("inference", "eiil")["SETTINGS"].items()}


def outputs(count=40, classes=3, scale=3.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(count, classes)) * scale, rng.integers(0, classes, count)


def infer(logits, y, seed, **settings):
    return eiil.infer(evidence(y, seed, logits=logits.astype(np.float32)), DEFAULTS | settings)


def objective(a, logits, y):
    """What EIIL maximizes, as its authors write it: two gradient norms of weighted mean losses, by autograd."""
    factor, q = torch.ones((), dtype=torch.float64, requires_grad=True), a.sigmoid()
    each = torch.nn.functional.cross_entropy(factor * torch.from_numpy(logits), torch.from_numpy(y), reduction="none")
    slopes = [torch.autograd.grad((weight * each).mean(), factor, create_graph=True)[0] for weight in (q, 1 - q)]
    return torch.stack(slopes).square().mean()


def test_scale_gradients_are_those_of_autograd():
    logits, y = outputs()
    factors = torch.ones(len(y), dtype=torch.float64, requires_grad=True)
    loss = torch.nn.functional.cross_entropy(
        factors[:, None] * torch.from_numpy(logits), torch.from_numpy(y), reduction="sum"
    )
    np.testing.assert_allclose(eiil.scale_gradients(logits, y), torch.autograd.grad(loss, factors)[0], rtol=1e-10)


def test_ascent_is_the_gradient_of_the_objective():
    logits, y = outputs()
    a = torch.randn(len(y), dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    (gradient,) = torch.autograd.grad(objective(a, logits, y), a)
    found = eiil.objective_gradient(a.detach().numpy(), eiil.scale_gradients(logits, y))
    np.testing.assert_allclose(found, gradient, rtol=1e-8)


@pytest.mark.parametrize("learning_rate", [1e-3, 0.1])
def test_steps_are_those_of_adam(learning_rate, steps=40):
    logits, y = outputs()
    a = torch.randn(len(y), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = eiil.maximize(a.numpy(), eiil.scale_gradients(logits, y), learning_rate, steps)
    a.requires_grad_()
    optimizer = torch.optim.Adam([a], lr=learning_rate)
    for _ in range(steps):
        optimizer.zero_grad()
        (-objective(a, logits, y)).backward()
        optimizer.step()
    np.testing.assert_allclose(found, a.detach(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_no_partition_violates_the_objective_more(seed):
    logits, y = outputs(count=9, seed=seed)
    g = eiil.scale_gradients(logits.astype(np.float32), y)

    def violation(first):
        return (g * first).mean() ** 2 + (g * ~first).mean() ** 2

    most = max(violation(np.array(first)) for first in itertools.product([False, True], repeat=9))
    found = infer(logits, y, seed, ascent_rate=0.1, steps=500)
    assert violation(found == 1) == pytest.approx(most, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_environment_1_is_what_stage_1_gets_wrong_whatever_the_start(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 400)
    wrong = rng.random(400) < 0.1
    said = np.where(wrong, (y + 1) % 4, y)
    logits = 4 * np.eye(4)[said] + rng.normal(size=(400, 4)) * 0.3
    found = infer(logits, y, seed)
    assert (found == wrong).all()


def test_the_settings_are_those_of_the_paper_and_are_used():
    assert (DEFAULTS["ascent_rate"], DEFAULTS["steps"]) == (1e-3, 10_000)
    logits, y = outputs()
    start = np.random.default_rng(7).standard_normal(len(y), dtype=np.float32) > 0
    stayed = infer(logits, y, 7, steps=0)
    assert (stayed == start).all() or (stayed == ~start).all()
    moved = infer(logits, y, 7, ascent_rate=0.1, steps=200)
    assert (moved != stayed).any()
    assert (moved == infer(logits, y, 7, ascent_rate=0.1, steps=200)).all()


def test_environment_1_may_be_empty():
    logits, y = np.array([[3.0, -3.0], [2.0, -2.0]]), np.array([0, 0])
    found = infer(logits, y, 3, ascent_rate=0.1, steps=2000)  # g < 0 for both
    assert found.tolist() == [0, 0]


@pytest.mark.parametrize("dataset", list_components("datasets"))
def test_a_data_sets_learning_rate_is_not_the_inferences(dataset):
    inference = resolve("methods", "eiil", dataset).points[0].components["groups"]
    settings = inference.settings
    assert (inference.base_name, settings["ascent_rate"], settings["steps"]) == ("eiil", 1e-3, 10_000)
