"""Structural similarity of images (Wang et al. 2003), and triplets of images to compare."""

import torch
from piq import multi_scale_ssim
from torch import Tensor

SCALE_WEIGHTS = (
    0.0448,
    0.2856,
    0.3001,
    0.2363,
    0.1333,
)  # Wang et al. 2003, finest scale first; those in use are scaled to sum to 1


def smallest_side(window: int, scales: int) -> int:
    """Pixels that the sides of an image must have at least, so that the window fits at the coarsest scale."""
    return (window - 1) * 2 ** (scales - 1) + 1


def structural_distance(left: Tensor, right: Tensor, window: int, scales: int) -> Tensor:
    """1 - MS-SSIM of pairs of images (B,C,H,W) in [-1,1], mean over channels: (B,), from 0 (equal) to 1."""
    with torch.autocast(left.device.type, enabled=False):
        left, right = ((images.float() + 1) / 2 for images in (left, right))
        weights = torch.tensor(SCALE_WEIGHTS[:scales], device=left.device)
        return 1 - multi_scale_ssim(left, right, window, reduction="none", scale_weights=weights)


def triplets(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of anchors, of a random positive (another sample of the class) and a random negative (another class) for
    each: (T,), (T,), (T,). Samples without a positive or a negative are no anchors. ``labels``: (B,)."""
    same = labels[:, None] == labels
    other = same & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    anchors = torch.nonzero(other.any(dim=1) & ~same.all(dim=1))[:, 0]
    chance = torch.rand(same.shape, device=labels.device)
    positives, negatives = (torch.where(allowed, chance, -1.0).argmax(dim=1)[anchors] for allowed in (other, ~same))
    return anchors, positives, negatives
