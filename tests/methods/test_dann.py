"""DANN: the reversed gradient, its ramp, and who learns what."""

import math

import numpy as np
import pytest
import torch
from lookup import gradient, random_case, tabled
from torch import nn

from despur.losses.adversarial import reverse_gradient

RNG = np.random.default_rng


def test_reversal_changes_no_value_and_turns_the_gradient_round():
    x = torch.tensor([0.1, -3e7, 1e-8], requires_grad=True)
    y = reverse_gradient(x, 0.3)
    assert torch.equal(y, x)
    (y * torch.tensor([1.0, 10.0, -100.0])).sum().backward()
    torch.testing.assert_close(x.grad, torch.tensor([-0.3, -3.0, 30.0]))


def dann(steps=0, **settings):
    z, y = random_case(0, count=12, classes=5)
    overrides = "".join(f"+{key}={value}" for key, value in sorted(settings.items()))
    method = tabled(f"dann{overrides}", z, y % 3, np.arange(12) % 2, head=True)
    method.networks["domain"] = nn.Sequential(nn.Linear(5, 2))
    method.steps_done = steps
    return method


@pytest.mark.parametrize("weight", [0.5, 2])
def test_the_encoder_learns_classes_and_unlearns_domains(weight):
    method = dann(10**9, weight=weight)
    batch = np.array([0, 3, 4, 7, 10])
    losses = method.losses(batch, RNG(0))
    z = method.networks["encoder"].values[batch]
    classes = nn.functional.cross_entropy(method.networks["head"](z), method.task.labels[batch])
    domains = nn.functional.cross_entropy(method.networks["domain"](z), torch.from_numpy(batch % 2))
    assert losses["cross_entropy"].item() == pytest.approx(classes.item(), rel=1e-5)
    assert losses["domain"].item() == pytest.approx(domains.item(), rel=1e-5)
    assert losses["loss"].item() == pytest.approx((classes + domains).item(), rel=1e-5)
    assert gradient(method, domains).abs().max() > 1e-3
    torch.testing.assert_close(
        gradient(method, losses["loss"]), gradient(method, classes) - weight * gradient(method, domains)
    )
    for network in ("head", "domain"):  # each classifier minimizes its own loss at full strength
        ours = torch.autograd.grad(losses["loss"], list(method.networks[network].parameters()), retain_graph=True)
        theirs = torch.autograd.grad(classes + domains, list(method.networks[network].parameters()), retain_graph=True)
        torch.testing.assert_close(ours, theirs)


def test_strength_follows_the_ramp_over_all_steps():
    settings = {"batch_size": 5, "epochs": 4}  # 3 steps an epoch
    assert dann(0, **settings).strength() == 0
    assert dann(6, **settings, weight=2).strength() == pytest.approx(2 * (2 / (1 + math.exp(-5)) - 1))
    assert dann(12, **settings, ramp=1).strength() == pytest.approx(math.tanh(0.5))
    assert dann(1, **settings, ramp=1e6).strength() == 1


@pytest.mark.parametrize(("hidden", "shapes"), [(0, [(2, 5)]), (7, [(7, 5), (2, 7)])])
def test_the_domain_classifier_has_the_layers_asked_for(hidden, shapes):
    from helpers import build, task

    method = build(f"dann+hidden={hidden}", task(np.arange(8) % 2, np.arange(8) // 4))
    layers = [m for m in method.networks["domain"] if isinstance(m, nn.Linear)]
    assert [tuple(m.weight.shape) for m in layers] == [tuple(84 if n == 5 else n for n in shape) for shape in shapes]
    assert isinstance(method.networks["domain"][-1], nn.Linear)
