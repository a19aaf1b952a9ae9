"""Random views of images (Chen et al. 2020, App. A): crop and resize, flip, Gaussian blur, color jitter, grayscale.

Runs on batches on the device, with own parameters for each image. Deviation: Chen et al. blur last; here crop, flip and
blur are one product of matrices (base.py), and colors change after it. The defaults are those of Lewis et al. 2023,
App. D: only crop and blur, because a flip can change a digit, and color is the domain. With color_jitter: their
oracle."""

import math

import numpy as np
import torch
from torch import Tensor

from despur.augment.base import Augment, blend, blurring, grayscale, resample, resampling, turn_hue
from despur.compute.transfer import to_device
from despur.specs.settings import Settings, float_, int_

SETTINGS = {
    "crop_scale": float_(
        0.08, "not stated; torchvision's default: a crop keeps at least this share of the area", above=0, at_most=1
    ),
    "crop_ratio": float_(4 / 3, "torchvision's default: largest ratio of a crop's sides", at_least=1),
    "flip": float_(0.0, "App. D: not label-preserving; Chen et al.: probability .5", at_least=0, at_most=1),
    "blur": float_(0.5, "not stated; Chen et al.: probability", at_least=0, at_most=1),
    "blur_radius": int_(1, "not stated; Chen et al.: a kernel of a tenth of the side, 3 pixels of 28", at_least=1),
    "blur_sigma": float_(2.0, "not stated; Chen et al.: pixels, the largest; the smallest is .1", above=0.1),
    "color_jitter": float_(
        0.0, "App. D: for the oracle only; Chen et al.: strength s, 1 on ImageNet, .5 on CIFAR", at_least=0, at_most=2.5
    ),
    "jitter": float_(0.8, "with color_jitter: not stated; Chen et al.: probability", at_least=0, at_most=1),
    "grayscale": float_(0.0, "App. D: none; Chen et al.: probability .2", at_least=0, at_most=1),
}


def build(settings: Settings) -> Augment:
    """Random views with these settings (:func:`despur.augment.base.build_augment`)."""

    def augment(images: Tensor, rng: np.random.Generator) -> Tensor:
        with torch.autocast(images.device.type, enabled=False):
            views = distort(images, draw_uniform(images, rng, 7), settings)
            if settings["color_jitter"] or settings["grayscale"]:
                views = 2 * recolor((views + 1) / 2, draw_uniform(images, rng, 6), settings) - 1
        return views

    return augment


def draw_uniform(images: Tensor, rng: np.random.Generator, count: int) -> Tensor:
    """Uniform random numbers (count,B) for B images, the same on every device."""
    return to_device(rng.random((count, len(images)), dtype=np.float32), images.device)


def distort(images: Tensor, draw: Tensor, settings: Settings) -> Tensor:
    """Images (B,C,H,W) cropped and resized, flipped and blurred. ``draw``: uniform numbers (7,B). A crop longer than a
    side of the image is shortened to it (torchvision draws another crop)."""
    area, ratio, top, left, flip, blur, width = draw
    side = (settings["crop_scale"] + (1 - settings["crop_scale"]) * area).sqrt()
    stretch = torch.exp(math.log(settings["crop_ratio"]) * (ratio - 0.5))  # square root of the ratio of the sides
    sigma = 0.1 + (settings["blur_sigma"] - 0.1) * width
    sigma = torch.where(blur < settings["blur"], sigma, 0.01)  # 0.01: no blur
    matrices = []
    for share, start, size in ((side / stretch, top, images.shape[2]), (side * stretch, left, images.shape[3])):
        length = size * share.clamp(max=1)
        matrix = resampling(start * (size - length), length, size)
        if settings["blur"]:
            matrix = torch.bmm(blurring(sigma, settings["blur_radius"], size), matrix)
        matrices.append(matrix)
    rows, columns = matrices
    columns = torch.where((flip < settings["flip"])[:, None, None], columns.flip(1), columns)
    return resample(images, rows, columns)


def recolor(images: Tensor, draw: Tensor, settings: Settings) -> Tensor:
    """Images (B,3,H,W) in [0,1] with jittered colors; then some are made gray. ``draw``: uniform numbers (6,B)."""
    if settings["color_jitter"]:
        jittered = jitter(images, draw, settings["color_jitter"])
        images = torch.where((draw[4] < settings["jitter"])[:, None, None, None], jittered, images)
    return torch.where((draw[5] < settings["grayscale"])[:, None, None, None], grayscale(images), images)


def jitter(images: Tensor, draw: Tensor, strength: float) -> Tensor:
    """Images (B,3,H,W) in [0,1] with brightness, contrast, saturation and hue changed, in this order (torchvision draws
    an order). ``draw``: uniform numbers, of which the first four rows are used."""
    low, high = max(0.0, 1 - 0.8 * strength), 1 + 0.8 * strength
    brightness, contrast, saturation = low + (high - low) * draw[:3]
    jittered = blend(images, 0.0, brightness)
    jittered = blend(jittered, grayscale(jittered).mean(dim=(1, 2, 3), keepdim=True), contrast)
    jittered = blend(jittered, grayscale(jittered), saturation)
    return turn_hue(jittered, 0.2 * strength * (2 * draw[3] - 1))
