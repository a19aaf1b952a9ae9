"""Operations for augmentations of images: on batches, with own parameters for each image, on any device.

torchvision's transforms draw one set of parameters for a whole batch. A crop, a change of size, a flip and a Gaussian
blur are linear in the rows and in the columns of an image. So two small matrices for each image hold all of them."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from despur.compute.task import Task
from despur.compute.transfer import to_device
from despur.specs.settings import SettingError
from despur.specs.spec import Spec

Augment = Callable[[Tensor, np.random.Generator], Tensor]


def build_augment(task: Task, spec: Spec, **changes: Any) -> Augment:
    """The augmentation that a method's specification names, with some of its settings changed: a function that maps
    images (B,C,H,W) in [-1,1] and a generator to a random view of each, (B,C,H,W) in [-1,1]. Raises SettingError where
    it is one of images and the samples of the task are none."""
    augment = spec.components["augment"]
    if augment.base_name == "images" and not task.batcher.is_image:
        name = task.about.get("dataset", "the data set")
        raise SettingError(f"{spec.base_name} changes images, but {name} holds vectors or texts: choose another method")
    build: Callable[..., Augment] = import_module(f"despur.augment.{augment.base_name}").build
    return build(augment.settings | changes)


def resampling(first: Tensor, length: Tensor, size: int) -> Tensor:
    """Matrices (B,size,size) that crop the window [first, first + length) of ``size`` pixels and resize it to ``size``.

    Bilinear; for whole pixels as torchvision's ``resized_crop``. ``first``, ``length``: pixels, (B,)."""
    scale = (length / size)[:, None, None]
    centers = torch.arange(size, device=first.device) + 0.5
    low, high = first[:, None, None], (first + length)[:, None, None]
    weight = (1 - (low + centers[:, None] * scale - centers).abs()).clamp(min=0) * ((centers > low) & (centers < high))
    return weight / weight.sum(dim=2, keepdim=True)


def blurring(sigma: Tensor, radius: int, size: int) -> Tensor:
    """Matrices (B,size,size) that blur ``size`` pixels with a Gaussian kernel of standard deviation ``sigma`` (B,) and
    of ``radius``, both in pixels. Images are reflected at their edges. A ``sigma`` near zero changes nothing."""
    offset = torch.arange(-radius, radius + 1, device=sigma.device)
    weight = torch.exp(-0.5 * (offset / sigma[:, None]).square())
    weight = weight / weight.sum(dim=1, keepdim=True)
    source = (torch.arange(size, device=sigma.device) + offset[:, None]).abs()
    source = size - 1 - (size - 1 - source).abs()
    shift = torch.nn.functional.one_hot(source, size).to(weight.dtype)
    return torch.einsum("bk,koi->boi", weight, shift)


def resample(images: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Images (B,C,H,W) multiplied by matrices of their ``rows`` (B,h,H) and ``columns`` (B,w,W): (B,C,h,w), channels
    last in memory."""
    pixels = images.permute(0, 3, 2, 1).flatten(2)  # (B,W,H*C)
    pixels = torch.bmm(columns, pixels).unflatten(2, (images.shape[2], -1))
    pixels = torch.bmm(rows, pixels.permute(0, 2, 1, 3).flatten(2)).unflatten(2, (columns.shape[1], -1))
    return pixels.permute(0, 3, 1, 2)


def grayscale(images: Tensor) -> Tensor:
    """Luminance (B,1,H,W) of images (B,3,H,W)."""
    weights = to_device(torch.tensor([0.2989, 0.587, 0.114]), images.device)
    return torch.einsum("bchw,c->bhw", images, weights)[:, None]


def blend(images: Tensor, other: Tensor | float, share: Tensor) -> Tensor:
    """``share`` (B,) x images (B,3,H,W) in [0,1] + (1 - share) x ``other``, clipped to [0,1]. A share above 1 leads
    away from ``other``."""
    share = share[:, None, None, None]
    return (share * images + (1 - share) * other).clamp(0, 1)


def turn_hue(images: Tensor, turns: Tensor) -> Tensor:
    """Images (B,3,H,W) in [0,1] with their hue rotated by ``turns`` (B,), in full turns, as in HSV."""
    high, low = images.amax(dim=1), images.amin(dim=1)
    chroma = high - low
    red, green, blue = (images / chroma.clamp(min=1e-12)[:, None]).unbind(1)
    top = images.argmax(dim=1)
    sixth = torch.where(top == 0, green - blue, torch.where(top == 1, 2 + blue - red, 4 + red - green))
    corner = to_device(torch.tensor([5.0, 3.0, 1.0]), images.device)[:, None, None]
    k = (corner + (sixth + 6 * turns[:, None, None])[:, None]) % 6
    return high[:, None] - chroma[:, None] * torch.minimum(k, 4 - k).clamp(0, 1)


def lab(images: Tensor) -> Tensor:
    """Images (B,3,H,W), sRGB in [0,1] -> CIE L*a*b* under D65, divided by 100: L in [0,1], a and b roughly in
    [-1,1]."""
    linear = torch.where(images <= 0.04045, images / 12.92, ((images.clamp(min=0) + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    matrix = to_device(torch.tensor(to_xyz) / torch.tensor([0.95047, 1.0, 1.08883])[:, None], images.device).to(
        images.dtype
    )  # relative to D65's white
    xyz = torch.einsum("kc,bchw->bkhw", matrix, linear)
    f = torch.where(xyz > (6 / 29) ** 3, xyz.clamp(min=1e-6) ** (1 / 3), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = f.unbind(1)
    return torch.stack([1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)], dim=1)
