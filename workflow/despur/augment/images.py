"""Random views of images (Chen et al. 2020, App. A): crop and resize, flip, Gaussian blur, colour jitter, grayscale.

On whole batches, on the device, each image with its own parameters. The defaults are those of Lewis et al. 2023, App.
D: crop and blur only, since digits have a direction and the domain is mediated by colour; color_jitter makes their
oracle."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from despur.augment.base import blend, blurring, grayscale, resample, resampling, turn_hue
from despur.compute.transfer import to_device
from despur.specs.settings import Settings, float_, int_

SETTINGS = {
    "crop_scale": float_(
        0.08, "not stated; torchvision's default: smallest share of the area that a crop keeps", above=0, at_most=1
    ),
    "crop_ratio": float_(4 / 3, "torchvision's default: a crop's sides differ at most so much", at_least=1),
    "flip": float_(0.0, "App. D: not label-preserving; Chen et al.: probability .5", at_least=0, at_most=1),
    "blur": float_(0.5, "not stated; Chen et al.: probability", at_least=0, at_most=1),
    "blur_radius": int_(1, "not stated; Chen et al.: a kernel of a tenth of the side, 3 pixels of 28", at_least=1),
    "blur_sigma": float_(2.0, "not stated; Chen et al.: pixels, at most; at least .1", above=0.1),
    "color_jitter": float_(
        0.0, "App. D: the oracle only. Chen et al.: strength s, 1 on ImageNet, .5 on CIFAR-10", at_least=0, at_most=2.5
    ),
    "jitter": float_(0.8, "with color_jitter, not stated; Chen et al.: probability", at_least=0, at_most=1),
    "grayscale": float_(0.0, "App. D: none; Chen et al.: probability .2", at_least=0, at_most=1),
}

Augment = Callable[[Tensor, np.random.Generator], Tensor]


def build(settings: Settings) -> Augment:
    """A function from images (B,C,H,W) in [-1,1] to a random view of each, of the same shape and range."""

    def augment(images: Tensor, rng: np.random.Generator) -> Tensor:
        with torch.autocast(images.device.type, enabled=False):
            views = distort(images, draws(images, rng, 7), settings)
            if settings["color_jitter"] or settings["grayscale"]:
                views = 2 * recolor((views + 1) / 2, draws(images, rng, 6), settings) - 1
        return views

    return augment


def draws(images: Tensor, rng: np.random.Generator, count: int) -> Tensor:
    """Uniform numbers (count,B), the same on every device."""
    return to_device(rng.random((count, len(images)), dtype=np.float32), images.device)


def distort(images: Tensor, draw: Tensor, settings: Settings) -> Tensor:
    """Crop and resize, flip, blur. A crop that would be longer than the image is cut to its side (torchvision draws
    again)."""
    area, ratio, top, left, flip, blur, width = draw
    side = (settings["crop_scale"] + (1 - settings["crop_scale"]) * area).sqrt()
    stretch = torch.exp(math.log(settings["crop_ratio"]) * (ratio - 0.5))  # the root of the ratio of the sides
    sigma = 0.1 + (settings["blur_sigma"] - 0.1) * width
    sigma = torch.where(blur < settings["blur"], sigma, 0.01)  # 0.01: not at all
    matrices = []
    for share, start, size in ((side / stretch, top, images.shape[2]), (side * stretch, left, images.shape[3])):
        length = size * share.clamp(max=1)
        matrix = resampling(start * (size - length), length, size)
        matrices.append(
            torch.bmm(blurring(sigma, settings["blur_radius"], size), matrix) if settings["blur"] else matrix
        )
    rows, columns = matrices
    columns = torch.where((flip < settings["flip"])[:, None, None], columns.flip(1), columns)
    return resample(images, rows, columns)


def recolor(images: Tensor, draw: Tensor, settings: Settings) -> Tensor:
    """Images in [0,1] with colours jittered, then some of them grey."""
    if settings["color_jitter"]:
        images = torch.where(
            (draw[4] < settings["jitter"])[:, None, None, None], jitter(images, draw, settings["color_jitter"]), images
        )
    return torch.where((draw[5] < settings["grayscale"])[:, None, None, None], grayscale(images), images)


def jitter(images: Tensor, draw: Tensor, strength: float) -> Tensor:
    """Jitter brightness, contrast, saturation and hue of images in [0,1], in this order (torchvision draws an
    order)."""
    low, high = max(0.0, 1 - 0.8 * strength), 1 + 0.8 * strength
    brightness, contrast, saturation = low + (high - low) * draw[:3]
    jittered = blend(images, 0.0, brightness)
    jittered = blend(jittered, grayscale(jittered).mean(dim=(1, 2, 3), keepdim=True), contrast)
    jittered = blend(jittered, grayscale(jittered), saturation)
    return turn_hue(jittered, 0.2 * strength * (2 * draw[3] - 1))
