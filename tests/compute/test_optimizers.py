"""LARS: its step, and that a stopped run goes on with it."""

import copy

import torch
from torch import nn

from despur.compute.optimizers import build_optimizer, load_optimizer

LARS = {"optimizer": "lars", "learning_rate": 2.0, "momentum": 0.9, "weight_decay": 0.01}


def descend(network, optimizer, steps):
    for step in range(steps):
        optimizer.zero_grad()
        network(torch.full((3, 4), step + 1.0)).square().sum().backward()
        optimizer.step()


def test_two_steps_by_hand():
    """You et al. 2017: a matrix moves by a thousandth of its length, whatever its gradient's; a bias as with SGD."""
    network = nn.Linear(4, 2)
    w, b = (p.detach().clone() for p in network.parameters())
    velocity = [torch.zeros_like(w), torch.zeros_like(b)]
    optimizer = build_optimizer(LARS, list(network.parameters()))
    for step in range(2):
        x = torch.full((3, 4), step + 1.0)
        error = 2 * (x @ w.T + b)
        slopes = [error.T @ x, error.sum(dim=0)]
        trust = 0.001 * w.norm() / (slopes[0].norm() + 0.01 * w.norm())
        moved = [trust * (slopes[0] + 0.01 * w), slopes[1]]
        velocity = [0.9 * v + m for v, m in zip(velocity, moved, strict=True)]
        w, b = (p - 2.0 * v for p, v in zip((w, b), velocity, strict=True))
        optimizer.zero_grad()
        network(x).square().sum().backward()
        optimizer.step()
    torch.testing.assert_close(network.weight.detach(), w)
    torch.testing.assert_close(network.bias.detach(), b)


def test_a_loaded_state_goes_on_bit_for_bit():
    network = nn.Linear(4, 2)
    optimizer = build_optimizer(LARS, list(network.parameters()))
    descend(network, optimizer, 2)
    other = copy.deepcopy(network)
    resumed = build_optimizer(LARS, list(other.parameters()))
    load_optimizer(resumed, copy.deepcopy(optimizer.state_dict()))
    descend(network, optimizer, 2)
    descend(other, resumed, 2)
    assert all(torch.equal(p, q) for p, q in zip(network.parameters(), other.parameters(), strict=True))
