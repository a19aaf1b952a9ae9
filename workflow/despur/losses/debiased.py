"""InfoNCE whose negatives are corrected for those of the anchor's own class (Chuang et al. 2020)."""

import math

import torch
from torch import Tensor
from torch.nn.functional import softplus

from despur.losses.infonce import precise


def debiased_contrast(positive: Tensor, negative: Tensor, class_prior: float, temperature: float) -> Tensor:
    """Eq. 7 and 8 of Chuang et al. 2020 with M = 1, one value an anchor, (...,B).

    ``positive`` (...,B), ``negative`` (B,K): similarities over ``temperature``; -inf marks what is no negative.
    ``class_prior``: tau+, the share of negatives that are of the anchor's class; with 0 this is InfoNCE. The corrected
    sum over negatives is at least N exp(-1 / temperature), N the number of negatives; an anchor without any has loss
    0. In at least single precision. Raises ValueError for a ``class_prior`` outside [0, 1), and for a temperature below
    .0125, at which exponentials of similarities are infinite in single precision.

    >>> import torch
    >>> from despur.losses import debiased_contrast
    >>> positive, negative = torch.tensor([2.0]), torch.tensor([[0.0, 1.0]])
    >>> debiased_contrast(positive, negative, class_prior=0.0, temperature=0.5)
    tensor([0.4076])
    >>> debiased_contrast(positive, negative, class_prior=0.1, temperature=0.5)
    tensor([0.2904])
    """
    if temperature < 0.0125:
        raise ValueError(
            f"temperature={temperature}: exponentials of similarities over it are infinite; take .0125 or more"
        )
    if not 0 <= class_prior < 1:
        raise ValueError(f"class_prior={class_prior}: a share, below 1")
    positive, negative = precise(positive), precise(negative)
    count = negative.isfinite().sum(dim=-1).to(negative.dtype)
    negative = negative.masked_fill((count == 0)[:, None], 0.0)  # whose gradient would be NaN
    total = negative.logsumexp(dim=-1)
    corrected = (total.exp() - count * class_prior * positive.exp()) / (1 - class_prior)
    floor = count * math.exp(-1 / temperature)
    return softplus(torch.maximum(corrected, floor).log() - positive).where(count > 0, 0.0)
