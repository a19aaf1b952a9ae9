"""The alignment loss: how far apart representations of a class are."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


def alignment_distance(first: Tensor, second: Tensor) -> Tensor:
    """Eq. 4 of Zhang et al. 2022: mean Euclidean distance over all pairs of ``first`` (B,M,D) and ``second`` (B,N,D),
    (B,), in at least single precision.

    >>> import torch
    >>> from despur.losses import alignment_distance
    >>> alignment_distance(torch.tensor([[[0.0, 0.0]]]), torch.tensor([[[3.0, 4.0], [0.0, 1.0]]]))
    tensor([3.])
    """
    return torch.cdist(precise(first), precise(second), compute_mode="donot_use_mm_for_euclid_dist").mean(dim=(1, 2))
