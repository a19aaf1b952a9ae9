"""Training steps on a pretended GPU: every tensor is where it is used, and no step waits for a value, after which the
GPU would stand idle.

Torch's fake tensors have a device and a shape, and no values: reading one raises. Device "meta" is used as the GPU;
"cuda" has no backward pass without one. Copies from the CPU must not be waited for, either. What is not seen here:
operations that wait within themselves (torch.linalg.cholesky, the library of MS-SSIM)."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch
from helpers import build, labels, task, walk
from tests.training.test_state import METHODS, QUICK
from torch import nn
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._python_dispatch import TorchDispatchMode

GPU = torch.device("meta")
WAITS = DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException
WAITING = (
    "cim",  # which anchors have triplets
    "con",  # which samples keep a weight: half the similarities
    "adv+batch_size=8+discriminator_epochs",  # once an epoch: whether the discriminators still learn
)
OTHERS = [name for name in METHODS if name not in QUICK] + ["gdro+batch_size=8+sampler=balanced"]
OTHERS += [
    f"{name}+encoder={encoder}"
    for name in ("erm+batch_size=7", "simclr+batch_size=7")
    for encoder in ("resnet18", "resnet50+encoder.weights=random")
]
STEPS = [*QUICK, *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)]


def move(network, change, recurse=True):
    """nn.Module._apply, which cannot exchange fake parameters."""
    for child in network.children():
        move(child, change)
    for name, p in network._parameters.items():
        network._parameters[name] = p if p is None else nn.Parameter(change(p.detach()), p.requires_grad)
    network._buffers.update({name: change(b) for name, b in network._buffers.items() if b is not None})
    return network


@pytest.fixture
def gpu(monkeypatch):
    """Fake tensors until the test's end."""
    monkeypatch.setattr(nn.Module, "_apply", move)
    monkeypatch.setattr(
        FakeTensor,
        "__deepcopy__",
        lambda self, memo: self.detach().clone().requires_grad_(self.requires_grad),
        raising=False,
    )
    for name in ("__init__", "__enter__", "__exit__"):  # there is no autocast of this device
        monkeypatch.setattr(torch.autocast, name, lambda self, *_, **__: None)
    with FakeTensorMode():
        yield GPU


class Waiting(TorchDispatchMode):
    """Raises where a copy from the CPU is waited for: ``to`` without ``non_blocking``, indices that lie elsewhere than
    what they index."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        copied = func is torch.ops.aten._to_copy.default and kwargs.get("device", args[0].device) != args[0].device
        indexed = func in (
            torch.ops.aten.index.Tensor,
            torch.ops.aten.index_put_.default,
            torch.ops.aten._index_put_impl_.default,
        )
        elsewhere = indexed and any(index is not None and index.device != args[0].device for index in args[1])
        if elsewhere or (copied and not kwargs.get("non_blocking")):
            raise AssertionError(f"{func} waits for the device")
        return func(*args, **kwargs)


@pytest.mark.parametrize("name", STEPS)
def test_a_step_stays_on_the_device_and_waits_for_no_value(name, gpu):
    y, predicted = labels({(0, 0): 7, (0, 1): 4, (1, 1): 6, (1, 0): 4})
    method = build(f"{name}+epochs=2+learning_rate=0.005", task(y, predicted, crop="image", device=gpu))
    assert {p.device for p in method.networks.parameters()} == {gpu}
    with pytest.raises(WAITS) if name.startswith(WAITING) else nullcontext():
        for number, (epoch, batch) in enumerate(walk(method, 2)):
            method.epochs_done = epoch
            method.set_learning_rate(epoch)
            with Waiting():
                losses = method.step(batch, np.random.default_rng(number))
            assert {value.device for value in losses.values()} == {gpu}


def test_what_is_elsewhere_or_waited_for_is_found(gpu):
    here, there = torch.zeros(3, device=gpu), torch.from_numpy(np.zeros(3, np.float32))
    with pytest.raises(RuntimeError, match="same device"):
        here + there
    assert (here + there.to(gpu)).device == gpu
    for wait in (lambda: float(here.sum()), lambda: here[here > 0], lambda: bool((here > 0).any())):
        with pytest.raises(WAITS):
            wait()
    index = torch.from_numpy(np.arange(2))
    for wait in (lambda: there.to(gpu), lambda: here[index], lambda: here.index_put_((index,), here[:2])):
        with pytest.raises(AssertionError, match="waits"), Waiting():
            wait()
    with Waiting():
        assert here[index.to(gpu, non_blocking=True)].device == gpu
