"""Many images at once, in chunks: on a CPU, what a network computes of a chunk stays in the caches."""

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

# How many images pass at once: of 128 to 2,240, the fastest for LeNet on 32x32 images, with and without gradients. A
# constant, because rounding, and so the last digits of results, depend on it.
CHUNK = 512


def apply_network(network: nn.Module, samples: Tensor) -> Tensor:
    """Outputs (B,...) of a network for samples (B,...). On a CPU, images (B,C,H,W) pass in chunks.

    Not in chunks: batch norm in training, whose statistics are those of the whole batch, and dropout in training, which
    would draw other numbers."""
    if samples.ndim != 4 or samples.device.type != "cpu" or len(samples) <= CHUNK or needs_whole_batch(network):
        return network(samples)
    return torch.cat([network(chunk) for chunk in samples.split(CHUNK)])


def needs_whole_batch(network: nn.Module) -> bool:
    """Whether outputs in training depend on which samples pass together."""
    return any(module.training and isinstance(module, _BatchNorm | _DropoutNd) for module in network.modules())
