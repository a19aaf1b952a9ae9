"""Statistics over the groups of a mini-batch."""

import torch
from torch import Tensor


def group_means(values: Tensor, group: Tensor, count: int) -> Tensor:
    """Mean of ``values`` (B,) in each of ``count`` groups that occurs in the mini-batch, in order of their numbers (at most ``count``,)."""
    size = torch.zeros(count, device=values.device).index_add_(0, group, torch.ones_like(values))
    total = torch.zeros(count, device=values.device).index_add(0, group, values)
    return total[size > 0] / size[size > 0]
