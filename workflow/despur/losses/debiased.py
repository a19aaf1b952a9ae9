"""Negatives corrected by the share of them that are of the anchor's class (Chuang et al. 2020)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus


def debiased_contrast(positive: Tensor, negative: Tensor, class_prior: float, temperature: float) -> Tensor:
    """Eq. 7 and 8 with M = 1, for similarities over temperature of anchors with their positive, (...,B), and
    negatives, (B,K): (...,B).

    -inf in ``negative`` is no negative; with ``class_prior`` tau+ = 0 it is InfoNCE. The sum over true negatives is at
    least N exp(-1 / temperature), N the number of negatives."""
    count = negative.isfinite().sum(dim=-1)
    total = negative.logsumexp(dim=-1)
    corrected = (total.exp() - count * class_prior * positive.exp()) / (1 - class_prior)
    floor = count * math.exp(-1 / temperature)
    return softplus(torch.maximum(corrected, floor.to(corrected.dtype)).log() - positive)
