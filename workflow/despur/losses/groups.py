"""Means over the groups of a mini-batch."""

from torch import Tensor

from despur.losses.infonce import precise


def group_means(values: Tensor, group: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Mean of ``values`` (B,...) in each of ``count`` groups, 0 for a group without samples: (count,...); and weights
    (count,) whose sum over groups is the mean over those with samples. ``group``: (B,). In at least single precision.

    >>> import torch
    >>> from despur.losses import group_means
    >>> group_means(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 2]), count=3)
    (tensor([2., 0., 5.]), tensor([0.5000, 0.0000, 0.5000]))
    """
    values = precise(values)
    size = values.new_zeros(count).index_add_(0, group, values.new_ones(len(values)))
    total = values.new_zeros(count, *values.shape[1:]).index_add(0, group, values)
    occurs = size > 0
    return total / size.clamp(min=1).view(-1, *[1] * (values.ndim - 1)), occurs / occurs.sum().clamp(min=1)
