"""Structural similarity of images (Wang et al. 2003), and triplets of images to compare."""

from functools import cache

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

# Wang et al. 2003, finest scale first; those in use are scaled to sum to 1
SCALE_WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def smallest_side(window: int, scales: int) -> int:
    """Pixels that the sides of an image must have at least, so that the window fits at the coarsest scale."""
    return (window - 1) * 2 ** (scales - 1) + 1


def structural_distance(left: Tensor, right: Tensor, window: int, scales: int) -> Tensor:
    """1 - MS-SSIM of pairs of images, mean over channels: (B,), from 0 (equal) to 1 (Wang et al. 2003).

    ``left``, ``right``: (B,C,H,W) in [-1,1]. ``window``: the side of the Gaussian windows in pixels. ``scales``: how
    many resolutions, each half of the one before, at most 5. Raises ValueError for more, and for images that the window
    does not fit into.

    >>> import torch
    >>> from despur.losses import structural_distance
    >>> black, white = -torch.ones(1, 3, 16, 16), torch.ones(1, 3, 16, 16)
    >>> structural_distance(black, white, window=11, scales=1)
    tensor([0.9999])
    """
    if not 1 <= scales <= len(SCALE_WEIGHTS):
        raise ValueError(f"scales={scales}: 1 to {len(SCALE_WEIGHTS)}")
    with torch.autocast(left.device.type, enabled=False):
        left, right = ((images.float() + 1) / 2 for images in (left, right))
        weights = torch.tensor(SCALE_WEIGHTS[:scales], device=left.device)
        similarities = []
        for scale in range(scales):
            left, right = (halve(images) if scale else images for images in (left, right))
            luminance, contrast = similarity_maps(left, right, window)
            similarities.append((luminance * contrast if scale == scales - 1 else contrast).mean(dim=(2, 3)))
        powers = torch.stack(similarities).relu() ** (weights / weights.sum())[:, None, None]
        return 1 - powers.prod(dim=0).mean(dim=1)


def halve(images: Tensor) -> Tensor:
    """Images (B,C,H,W) at half the resolution: means of 2x2 pixels. Of odd sides, the first row or column is
    repeated."""
    odd = any(side % 2 for side in images.shape[2:])
    return avg_pool2d(pad(images, (1, 0, 1, 0), mode="replicate") if odd else images, 2)


def similarity_maps(left: Tensor, right: Tensor, window: int) -> tuple[Tensor, Tensor]:
    """Luminance, and contrast with structure, of each window of pairs of images (B,C,H,W) in [0,1] (Wang et al. 2004,
    Eq. 6 and 13 with C3 = C2 / 2): (B,C,W',H') each."""
    given = torch.stack([left, right, left * left, right * right, left * right])
    mean_left, mean_right, left_square, right_square, product = window_means(given, window)
    both, squares = mean_left * mean_right, mean_left.square() + mean_right.square()
    luminance = (2 * both + 0.01**2) / (squares + 0.01**2)
    contrast = (2 * (product - both) + 0.03**2) / (left_square + right_square - squares + 0.03**2)
    return luminance, contrast


def window_means(maps: Tensor, window: int) -> Tensor:
    """Means of maps (...,H,W) in Gaussian windows, (...,W',H'): transposed. Products of matrices, which on a CPU take a
    fraction of the time of convolutions by channel."""
    height, width = (window_weights(side, window).to(maps.device) for side in maps.shape[-2:])
    return (maps @ width.T).transpose(-2, -1).contiguous() @ height.T


@cache
@torch.inference_mode(False)
def window_weights(side: int, window: int) -> Tensor:
    """Weights of each pixel of a side in each window, (side - window + 1, side): a Gaussian of 1.5 pixels."""
    if side < window:
        raise ValueError(f"a side of {side} pixels is below the window of {window}: see smallest_side")
    weights = (-(torch.arange(window) - (window - 1) / 2).square() / (2 * 1.5**2)).softmax(dim=0)
    starts = torch.arange(side - window + 1)[:, None]
    positions = starts + torch.arange(window)
    return torch.zeros(len(starts), side).scatter_(1, positions, weights.expand_as(positions))


def triplets(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of anchors, of a random positive (another sample of the class) and a random negative (another class) for
    each: (T,), (T,), (T,). Samples without a positive or a negative are no anchors. ``labels``: (B,).

    >>> import torch
    >>> from despur.losses import triplets
    >>> triplets(torch.tensor([0, 0, 1]))  # sample 2 has no other sample of its class
    (tensor([0, 1]), tensor([1, 0]), tensor([2, 2]))
    """
    same = labels[:, None] == labels
    other = same & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    anchors = torch.nonzero(other.any(dim=1) & ~same.all(dim=1))[:, 0]
    chance = torch.rand(same.shape, device=labels.device)
    positives, negatives = (torch.where(allowed, chance, -1.0).argmax(dim=1)[anchors] for allowed in (other, ~same))
    return anchors, positives, negatives
