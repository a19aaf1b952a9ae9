"""One run on several GPUs: ``torchrun --nproc-per-node 8 -m despur.stage1 results/stage1/imagenet/simclr/s0``.

Each process takes its shard of every batch. Embeddings are gathered before they are compared, batch norm uses
statistics of the whole batch, and gradients are averaged: loss and gradients are those of one process, except for
rounding. DistributedDataParallel averages in a wrapper around one forward pass; methods here call several networks,
and MSR differentiates a gradient. Everything rests on one sum over processes. Its derivative is that sum again, so
second derivatives are right too."""

import os
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import Tensor, nn

from despur.specs.settings import SettingError
from despur.storage.store import Array

PATIENCE = timedelta(days=1)  # while the first process alone writes results; torchrun ends all if one fails


def join(device: str) -> str:
    """Join the other processes that torchrun started, if it did. Returns the device of this process."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        return device
    if not dist.is_initialized():
        dist.init_process_group("nccl" if device.startswith("cuda") else "gloo", timeout=PATIENCE)
    if not device.startswith("cuda"):
        return device
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return f"cuda:{os.environ['LOCAL_RANK']}"


def leave() -> None:
    """Wait for the other processes and leave the group, if this process has joined one."""
    if dist.is_initialized():
        dist.barrier()
        dist.destroy_process_group()


def processes() -> int:
    return dist.get_world_size() if dist.is_initialized() else 1


def rank() -> int:
    return dist.get_rank() if dist.is_initialized() else 0


def shard(batch: Array) -> Array:
    """The shard of a batch that this process takes. Raises SettingError if shards would not be equally large."""
    if processes() == 1:
        return batch
    if len(batch) % processes():
        raise SettingError(f"batch_size={len(batch)} cannot be divided evenly by {processes()} processes")
    return np.split(batch, processes())[rank()]


class Total(torch.autograd.Function):
    """The sum over processes. Its derivative, in either direction, is the same sum."""

    @staticmethod
    def forward(x: Tensor) -> Tensor:
        total = x.contiguous().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing to remember."""

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> Tensor:
        return total(slope)

    @staticmethod
    def jvp(ctx: Any, tangent: Tensor) -> Tensor:
        return total(tangent)


def total(x: Tensor) -> Tensor:
    """The sum over processes."""
    return Total.apply(x) if processes() > 1 else x


def mean(x: Tensor) -> Tensor:
    """The mean over processes."""
    return total(x) / processes()


def gather(z: Tensor) -> Tensor:
    """Rows (...,2n,d) of both views of n samples -> (...,2N,d) of all processes' N: first all first views, then all
    second ones."""
    if processes() == 1:
        return z
    views = z.unflatten(-2, (2, 1, -1))  # (...,2,1,n,d)
    padded = nn.functional.pad(views, (0, 0, 0, 0, rank(), processes() - 1 - rank()))
    return total(padded).flatten(-4, -2)


def average(gradients: Iterable[Tensor]) -> list[Tensor]:
    """The means over processes, by one sum. Each process computes the whole loss, so these are its gradients."""
    parts = list(gradients)
    if processes() == 1 or not parts:
        return parts
    flat = mean(torch.cat([g.flatten() for g in parts]))
    return [piece.view_as(g) for piece, g in zip(flat.split([g.numel() for g in parts]), parts, strict=True)]


def average_gradients(parameters: Iterable[nn.Parameter]) -> None:
    """As :func:`average`, of the gradients of these parameters."""
    if processes() == 1:
        return
    trained = [p for p in parameters if p.grad is not None]
    with torch.no_grad():
        for parameter, gradient in zip(trained, average(p.grad for p in trained if p.grad is not None), strict=True):
            parameter.grad = gradient


class BatchNorm(nn.modules.batchnorm._BatchNorm):
    """Batch norm with statistics of all processes' samples in training. Unlike torch's SyncBatchNorm it runs on CPUs
    too and can be differentiated twice. Shards must be equally large."""

    def _check_input_dim(self, input: Tensor) -> None:
        """Any number of dimensions."""

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return super().forward(input)
        with torch.autocast(input.device.type, enabled=False):
            x, dims = input.float() if input.dtype != torch.float64 else input, [d for d in range(input.ndim) if d != 1]
            shape = [1, -1] + [1] * (input.ndim - 2)
            center = mean(x.mean(dims))
            centered = x - center.view(shape)
            variance = mean(centered.square().mean(dims))
            count = processes() * x.numel() / x.shape[1]
            self.remember(center.detach(), variance.detach() * count / (count - 1))
            y = centered * (variance + self.eps).rsqrt().view(shape) * self.weight.view(shape) + self.bias.view(shape)
            return y.to(input.dtype)

    def remember(self, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics, by ``momentum``."""
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        assert self.momentum is not None
        self.num_batches_tracked.add_(1)
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), self.momentum)
        self.running_var.lerp_(variance.to(self.running_var.dtype), self.momentum)


def synchronize(networks: nn.Module) -> None:
    """Give these networks' batch norms the statistics of all processes. Names, parameters and buffers stay. Raises
    SettingError for a batch norm that does more, such as those of timm that contain an activation."""
    for module in networks.modules():
        if processes() > 1 and isinstance(module, nn.modules.batchnorm._BatchNorm):
            if type(module).forward is not nn.modules.batchnorm._BatchNorm.forward:
                kind = type(module).__name__
                raise SettingError(f"{kind} is no plain batch norm: start without torchrun, or choose another encoder")
            module.__class__ = BatchNorm
