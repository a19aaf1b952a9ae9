"""How much images look alike, and which of them to compare."""

import torch
from piq import multi_scale_ssim
from torch import Tensor

SCALE_WEIGHTS = (
    0.0448,
    0.2856,
    0.3001,
    0.2363,
    0.1333,
)  # Wang et al. 2003, finest first; those used are made to sum to 1


def smallest_side(window: int, scales: int) -> int:
    """Pixels that an image must have: the window fits at the coarsest scale."""
    return (window - 1) * 2 ** (scales - 1) + 1


def structural_distance(left: Tensor, right: Tensor, window: int, scales: int) -> Tensor:
    """1 - MS-SSIM of pairs of images (B,C,H,W) in [-1,1], channel by channel: (B,), from 0 (equal) to 1."""
    with torch.autocast(left.device.type, enabled=False):
        left, right = ((images.float() + 1) / 2 for images in (left, right))
        weights = torch.tensor(SCALE_WEIGHTS[:scales], device=left.device)
        return 1 - multi_scale_ssim(left, right, window, reduction="none", scale_weights=weights)


def triplets(labels: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of anchors, positives (another of the class) and negatives (another class): random; anchors without either
    are left out."""
    same = labels[:, None] == labels
    other = same & ~torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    anchors = torch.nonzero(other.any(dim=1) & ~same.all(dim=1))[:, 0]
    chance = torch.rand(same.shape, device=labels.device)
    positives, negatives = (torch.where(allowed, chance, -1.0).argmax(dim=1)[anchors] for allowed in (other, ~same))
    return anchors, positives, negatives
