"""A stopped run goes on with LARS."""

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
