"""Convolutions with few output channels, on a CPU.

Such a convolution leaves most of a vector register empty. A wide one computes two neighboring columns as one with twice
the channels: its kernel holds the kernel twice, the second time a column further right, and moves by two columns. The
added weights are zeros, so that nothing is rounded differently. The gradient of the inputs is such a convolution, too;
that of the weights is torch's, because a wide one would add up in another order."""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import conv2d, pad

FEW = 8  # channels: half of the numbers that a register of AVX-512 holds; shorter registers are full
MANY = 128  # images, from which on the gain exceeds the work of widening the kernel


class Conv2d(nn.Conv2d):
    """torch's convolution, computed as a wide one where that is faster, with torch's parameters. Outputs and gradients
    of parameters were bit-identical on AVX2 and AVX-512; those of images of three channels differ by rounding."""

    def forward(self, images: Tensor) -> Tensor:
        if not may_be_wide(images) or (self.stride, self.padding) != ((1, 1), (0, 0)):
            return super().forward(images)
        return WideConvolution.apply(images, self.weight, self.bias)


def may_be_wide(images: Tensor) -> bool:
    """Whether wide convolutions of these images (B,C,H,W) are measured to gain: many images in single precision, with
    channels last in memory, on a processor with AVX-512."""
    return (
        images.device.type == "cpu"
        and len(images) >= MANY
        and has_long_registers()
        and not torch.is_autocast_enabled("cpu")
        and images.is_contiguous(memory_format=torch.channels_last)
    )


@cache
def has_long_registers() -> bool:
    return torch.backends.cpu.get_cpu_capability() == "AVX512"


def convolve(images: Tensor, weight: Tensor, bias: Tensor | None, padding: int = 0) -> Tensor:
    """conv2d of images (B,I,H,W) with weights (O,I,h,w), by a wide convolution if it has few channels."""
    columns = images.shape[3] + 2 * padding - weight.shape[3] + 1
    if len(weight) > FEW or columns % 2:
        return conv2d(images, weight, bias, padding=padding)
    wide = torch.cat([pad(weight, (0, 1)), pad(weight, (1, 0))]).contiguous(memory_format=torch.channels_last)
    pairs = conv2d(images, wide, None if bias is None else bias.repeat(2), (1, 2), padding)
    pixels = pairs.permute(0, 2, 3, 1)  # (B,rows,columns / 2,2 O)
    return pixels.reshape(*pixels.shape[:2], columns, len(weight)).permute(0, 3, 1, 2)


class WideConvolution(torch.autograd.Function):
    """:func:`convolve` of images, weights and bias, with gradients."""

    @staticmethod
    def forward(ctx: Any, images: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(images, weight)
        ctx.save_for_forward(images, weight)
        return convolve(images, weight, bias)

    @staticmethod
    def jvp(ctx: Any, of_images: Tensor | None, of_weight: Tensor | None, of_bias: Tensor | None) -> Tensor:
        """Forward mode: the derivative of the output, from those of its inputs (None: 0)."""
        images, weight = ctx.saved_tensors
        by_images = convolve(torch.zeros_like(images) if of_images is None else of_images, weight, None)
        return by_images + convolve(images, torch.zeros_like(weight) if of_weight is None else of_weight, of_bias)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        images, weight = ctx.saved_tensors
        of_images, of_weight, of_bias = ctx.needs_input_grad
        turned = weight.flip(2, 3).transpose(0, 1)
        to_images = convolve(gradient, turned, None, len(weight[0, 0]) - 1) if of_images else None
        pixels = gradient.permute(0, 2, 3, 1).reshape(-1, len(weight))
        sums = pixels.new_ones(len(pixels)) @ pixels if of_bias else None  # faster than torch's, which adds up alike
        options = [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [False, of_weight, False]  # no padding, ...; what is asked
        _, found_weight, _ = torch.ops.aten.convolution_backward(gradient, images, weight, None, *options)
        return to_images, found_weight, sums
