"""IRMv1: the penalty against autograd and finite differences, environments, annealing."""

import numpy as np
import pytest
import torch
from helpers import build, embedded
from lookup import cross_entropies, gradient, random_case, tabled
from torch import nn

from despur.losses.groups import group_means
from despur.losses.invariance import PENALTIES, products_of_halves, scale_gradient, squared_slopes

RNG = np.random.default_rng


def risk(logits, y, scale=1.0):
    return cross_entropies(scale * logits, y).mean()


def finite_difference(logits, y, step=1e-4):
    return (risk(logits, y, 1 + step) - risk(logits, y, 1 - step)) / (2 * step)


def autograd_penalty(table, target):
    """As it is usually written: differentiate through a dummy scale, square."""
    scale = torch.ones((), dtype=table.dtype, requires_grad=True)
    loss = nn.functional.cross_entropy(scale * table, target)
    return torch.autograd.grad(loss, scale, create_graph=True)[0] ** 2


@pytest.mark.parametrize("seed", range(4))
def test_scale_gradient_is_the_derivative_of_the_risk(seed):
    logits, y = random_case(seed)
    found = scale_gradient(torch.from_numpy(logits), torch.from_numpy(y)).mean().item()
    assert found == pytest.approx(finite_difference(logits, y), rel=1e-6)
    assert abs(found) > 1e-3


@pytest.mark.parametrize("seed", range(4))
def test_the_penalty_and_its_gradient_are_those_of_autograd(seed):
    logits, y = random_case(seed)
    ours, theirs = (torch.from_numpy(logits).requires_grad_() for _ in range(2))
    target = torch.from_numpy(y)
    first, second = scale_gradient(ours, target).mean().square(), autograd_penalty(theirs, target)
    assert first.item() == pytest.approx(second.item(), rel=1e-9)
    torch.testing.assert_close(torch.autograd.grad(first, ours)[0], torch.autograd.grad(second, theirs)[0])


def test_halves_multiply_the_slopes_of_every_second_sample_of_an_environment():
    slopes = torch.tensor([1.0, 5.0, 3.0, 7.0, -2.0, 4.0], requires_grad=True)
    environment = torch.tensor([0, 2, 0, 2, 0, 1])  # environment 1 has one sample: left out
    found = products_of_halves(slopes, environment, 4)
    assert found.item() == pytest.approx(((1 - 2) / 2 * 3 + 5 * 7) / 2)
    assert torch.autograd.grad(found, slopes)[0].tolist() == pytest.approx([0.75, 3.5, -0.25, 2.5, 0.75, 0])
    assert products_of_halves(slopes[-1:], environment[-1:], 4).item() == 0


@pytest.mark.parametrize(("penalty", "bias"), [("square", 1), ("halves", 0)])
def test_the_mean_penalty_of_mini_batches_is_the_squared_slope_plus_its_variance_or_without(penalty, bias):
    """Over all mini-batches of four, drawn with replacement, of one environment with slopes -1, 0 and 4."""
    slopes = torch.tensor([-1.0, 0.0, 4.0])
    batches = torch.cartesian_prod(*[torch.arange(3)] * 4)
    found = [PENALTIES[penalty](slopes[rows], torch.zeros(4, dtype=int), 1).item() for rows in batches]
    variance = (4 + 1 + 9) / 3  # about the mean, 1
    assert np.mean(found) == pytest.approx(1 + bias * variance / 4, rel=1e-6)


@pytest.mark.parametrize("name", ["irm", "eiil"])
def test_methods_take_the_penalty_asked_for(name):
    logits, y = random_case(3)
    environment, rows = np.arange(12) % 2, torch.arange(12)
    slopes = scale_gradient(torch.tensor(logits), torch.from_numpy(y)).float()
    for penalty, slow in (("square", squared_slopes), ("halves", products_of_halves)):
        method = tabled(f"{name}+annealing=0+penalty={penalty}", logits, y, environment)
        found = method.losses(rows.numpy(), RNG(0))["penalty"].item()
        assert found == pytest.approx(slow(slopes, rows % 2, 2).item(), rel=1e-4)


def test_group_means_are_of_the_groups_that_occur():
    values = torch.tensor([1.0, 2.0, 6.0, -4.0], requires_grad=True)
    found, share = group_means(values, torch.tensor([3, 0, 3, 4]), 6)
    assert found.tolist() == [2.0, 0, 0, 3.5, -4.0, 0] and share.tolist() == pytest.approx(
        [1 / 3, 0, 0, 1 / 3, 1 / 3, 0]
    )
    weights = torch.tensor([1.0, 7.0, 7.0, 10.0, 100.0, 7.0])
    assert torch.autograd.grad((found * weights).sum(), values)[0].tolist() == [5, 1, 5, 100]


def expected_loss(logits, y, environment, batch, weight):
    risks, penalties = [], []
    for e in sorted(set(environment[batch])):
        rows = batch[environment[batch] == e]
        risks.append(risk(logits[rows], y[rows]))
        penalties.append(finite_difference(logits[rows], y[rows]) ** 2)
    return np.mean(risks), np.mean(penalties), (np.mean(risks) + weight * np.mean(penalties)) / max(weight, 1)


@pytest.mark.parametrize("name", ["irm", "eiil"])
@pytest.mark.parametrize(
    ("weight", "annealing", "epochs_done", "in_effect"),
    [(100, 30, 29, 1), (100, 30, 30, 100), (0.5, 0, 0, 0.5), (0.5, 100, 99, 1)],
)
def test_the_loss_is_the_mean_over_environments_with_an_annealed_penalty(
    name, weight, annealing, epochs_done, in_effect
):
    logits, y = random_case(7)
    environment = np.array([7, 2, 7, 2, 7, 7, 4, 4, 4, 2, 7, 7])  # numbers with gaps
    method = tabled(f"{name}+annealing={annealing}+penalty_weight={weight}+weight_decay=0", logits, y, environment)
    method.epochs_done = epochs_done
    batch = np.array([0, 2, 4, 5, 6, 8, 10])  # environment 2 is absent
    found = method.losses(batch, RNG(0))
    expected = expected_loss(logits, y, environment, batch, in_effect)
    for name, value in zip(("cross_entropy", "penalty", "loss"), expected, strict=True):
        assert found[name].item() == pytest.approx(value, rel=1e-4), name


def test_the_gradient_is_that_of_risk_and_penalty():
    logits, y = random_case(8)
    environment = np.arange(12) % 2
    method = tabled("irm+annealing=0+penalty_weight=4+weight_decay=0", logits, y, environment)
    found = gradient(method, method.losses(np.arange(12), RNG(0))["loss"])
    table = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
    target = torch.from_numpy(y)
    slow = 0
    for e in (0, 1):
        rows = environment == e
        slow = (
            slow
            + (nn.functional.cross_entropy(table[rows], target[rows]) + 4 * autograd_penalty(table[rows], target[rows]))
            / 2
            / 4
        )
    torch.testing.assert_close(found, torch.autograd.grad(slow, table)[0], rtol=1e-4, atol=1e-6)


def test_weight_decay_is_divided_with_the_loss_by_the_weight_of_the_penalty():
    y, a = np.tile([0, 1], 10), np.repeat([0, 1], 10)
    name = "irm+annealing=0+encoder=identity+penalty_weight={}+weight_decay={}"
    for weight, divisor in ((100, 100), (0.5, 1)):
        decayed, plain = (build(name.format(weight, decay), embedded(y, a)) for decay in (0.3, 0))
        losses = [method.losses(np.arange(20), RNG(0))["loss"].item() for method in (decayed, plain)]
        squares = sum(parameter.square().sum().item() for parameter in decayed.networks.parameters())
        assert losses[0] - losses[1] == pytest.approx(0.3 * squares / divisor, rel=1e-3)
        assert [group["weight_decay"] for group in decayed.build_optimizer().param_groups] == [0.0]
