"""Chunks change outputs and gradients by rounding alone, and are not used where they would change more."""

import copy

import pytest
import torch
from torch import nn

from despur.compute.chunks import CHUNK, apply_network
from despur.encoders.lenet import LeNet

IMAGES = torch.rand(2 * CHUNK + 7, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def convolution(*layers):
    return nn.Sequential(nn.Conv2d(3, 2, 5, stride=4), *layers, nn.Flatten())


def count_calls(network, samples):
    """How many calls of a network its outputs take."""
    sizes = []
    handle = network.register_forward_hook(lambda module, inputs, outputs: sizes.append(len(inputs[0])))
    outputs = apply_network(network, samples)
    handle.remove()
    assert sum(sizes) == len(samples) == len(outputs)
    return len(sizes)


def test_outputs_and_gradients_are_those_of_all_images_at_once():
    torch.manual_seed(0)
    chunked = LeNet().double()
    whole = copy.deepcopy(chunked)
    outputs, expected = apply_network(chunked, IMAGES.double()), whole(IMAGES.double())
    outputs.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(outputs, expected)
    for mine, theirs in zip(chunked.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, theirs.grad)


@pytest.mark.parametrize(
    ("network", "calls"),
    [
        (convolution(), 3),
        (convolution().eval(), 3),
        (convolution(nn.BatchNorm2d(2)), 1),
        (convolution(nn.BatchNorm2d(2)).eval(), 3),
        (convolution(nn.Dropout2d(0.5)), 1),
        (convolution(nn.Dropout(0.5)).eval(), 3),
    ],
)
def test_networks_whose_outputs_depend_on_the_batch_get_it_whole(network, calls):
    assert count_calls(network, IMAGES) == calls
    assert count_calls(network, IMAGES[:CHUNK]) == 1


def test_vectors_pass_at_once():
    assert count_calls(nn.Linear(4, 2), torch.zeros(CHUNK + 1, 4)) == 1
