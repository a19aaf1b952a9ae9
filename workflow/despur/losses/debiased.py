"""InfoNCE whose negatives are corrected for those of the anchor's own class (Chuang et al. 2020)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus


def debiased_contrast(positive: Tensor, negative: Tensor, class_prior: float, temperature: float) -> Tensor:
    """Eq. 7 and 8 with M = 1, one value an anchor, (...,B).

    ``positive`` (...,B), ``negative`` (B,K): similarities over temperature; -inf marks what is no negative.
    ``class_prior``: tau+, the share of negatives that are of the anchor's class; with 0 this is InfoNCE. The corrected
    sum over negatives is at least N exp(-1 / temperature), N the number of negatives."""
    count = negative.isfinite().sum(dim=-1).to(negative.dtype)
    total = negative.logsumexp(dim=-1)
    corrected = (total.exp() - count * class_prior * positive.exp()) / (1 - class_prior)
    floor = count * math.exp(-1 / temperature)
    return softplus(torch.maximum(corrected, floor).log() - positive)
