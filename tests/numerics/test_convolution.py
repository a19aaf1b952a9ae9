"""Wide convolutions against torch's, with float64 as the judge."""

import pytest
import torch
from torch.nn.functional import conv2d

from despur.encoders.lenet import LeNet
from despur.numerics import convolution


def arguments(outputs, images=32, side=32, channels=3, dtype=torch.float32):
    """Images with channels last in memory, weights and bias, all with gradients."""
    generator = torch.Generator().manual_seed(0)
    drawn = [
        torch.randn(shape, generator=generator, dtype=dtype)
        for shape in ((images, channels, side, side), (outputs, channels, 5, 5), (outputs,))
    ]
    return [
        drawn[0].to(memory_format=torch.channels_last).requires_grad_(),
        *(each.requires_grad_() for each in drawn[1:]),
    ]


def output_and_gradients(function, given):
    """Output, and gradients of the sum of its cubes."""
    output = function(*given)
    return [output.detach(), *torch.autograd.grad(output.pow(3).sum(), given)]


@pytest.mark.parametrize(("outputs", "side"), [(6, 32), (16, 14), (1, 12), (6, 13)])
def test_as_near_to_float64_as_torch(outputs, side):
    given = arguments(outputs, side=side)
    exact = output_and_gradients(conv2d, [each.detach().double().requires_grad_() for each in given])
    wide = output_and_gradients(convolution.WideConvolution.apply, given)
    literal = output_and_gradients(conv2d, given)
    for ours, torchs, true in zip(wide, literal, exact, strict=True):
        assert ours.shape == true.shape and ours.stride() == torchs.stride()
        # rounding: on some processors torch's own is larger, on some ours
        assert (ours - true).norm() <= 2 * (torchs - true).norm() + 1e-12 * true.norm()


def test_gradients_of_gradients():
    given = [each.detach().requires_grad_() for each in arguments(2, images=2, side=6, channels=2, dtype=torch.double)]
    torch.autograd.gradcheck(convolution.WideConvolution.apply, given, check_forward_ad=True)
    torch.autograd.gradgradcheck(convolution.WideConvolution.apply, given, check_fwd_over_rev=True)


def test_wide_only_where_it_gains(monkeypatch):
    asked = []
    monkeypatch.setattr(
        convolution, "convolve", lambda images, *rest: asked.append(len(images)) or conv2d(images, *rest)
    )
    monkeypatch.setattr(convolution, "has_long_registers", lambda: True)
    layer = convolution.Conv2d(3, 6, 5).to(memory_format=torch.channels_last)
    images = torch.rand(128, 3, 8, 8)
    last = images.contiguous(memory_format=torch.channels_last)
    with torch.autocast("cpu", torch.bfloat16):
        assert layer(last).dtype == torch.bfloat16
    layer(images)
    layer(last[:127])
    convolution.Conv2d(3, 6, 5, padding=2)(last)
    assert not asked
    layer(last)
    assert asked == [128]
    monkeypatch.setattr(convolution, "has_long_registers", lambda: False)
    layer(last)
    assert asked == [128]


def test_lenet_has_the_parameters_of_torchs_convolutions():
    torch.manual_seed(0)
    shapes = {
        name: tuple(value.shape)
        for name, value in LeNet().state_dict().items()
        if name in ("layers.0.weight", "layers.3.bias")
    }
    assert shapes == {"layers.0.weight": (6, 3, 5, 5), "layers.3.bias": (16,)}
