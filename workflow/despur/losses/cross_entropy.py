"""Cross-entropies in which some samples, classes or groups count more than others."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, one_hot

from despur.losses.groups import group_means
from despur.losses.infonce import precise

SMALLEST = 1e-12  # probability of another class: where it is 0, a power below 1 has no finite slope


def focal(logits: Tensor, labels: Tensor, gamma: float) -> Tensor:
    """Eq. 4 of Lin et al. 2017, without weights of classes: mean of -(1 - p)^gamma log p over samples, a scalar. p: the
    probability of the class. ``logits`` (B,C), ``labels`` (B,). ``gamma``: 0 is cross-entropy.

    >>> import torch
    >>> from despur.losses import focal
    >>> focal(torch.tensor([[0.0, 0.0], [0.0, 4.0]]), torch.tensor([0, 1]), gamma=2.0)
    tensor(0.0866)
    """
    sample_losses = cross_entropy(precise(logits), labels, reduction="none")
    others = -torch.expm1(-sample_losses)
    return (others.clamp(min=SMALLEST) ** gamma * sample_losses).mean()


def generalized_cross_entropy(logits: Tensor, labels: Tensor, q: float) -> Tensor:
    """(1 - p^q) / q of each sample, (B,), with p the probability of the class (Eq. 6 of Zhang and Sabuncu 2018).
    ``logits`` (B,C), ``labels`` (B,). ``q``: above 0; near 0 it is cross-entropy, with 1 the mean absolute error.

    >>> import torch
    >>> from despur.losses import generalized_cross_entropy
    >>> generalized_cross_entropy(torch.tensor([[0.0, 0.0], [0.0, 4.0]]), torch.tensor([0, 1]), q=0.7)
    tensor([0.5492, 0.0180])
    """
    if q <= 0:
        raise ValueError(f"q={q}: give a number above 0")
    return -torch.expm1(-q * cross_entropy(precise(logits), labels, reduction="none")) / q


def balanced_softmax(logits: Tensor, labels: Tensor, class_sizes: Tensor) -> Tensor:
    """Eq. 3 and 4 of Ren et al. 2020: mean of -log(n_y exp(l_y) / sum_c n_c exp(l_c)) over samples, a scalar.

    ``logits`` l (B,C), ``labels`` (B,), ``class_sizes`` n (C,): numbers of training samples.

    >>> import torch
    >>> from despur.losses import balanced_softmax
    >>> balanced_softmax(torch.zeros(1, 2), torch.tensor([1]), class_sizes=torch.tensor([3, 1]))
    tensor(1.3863)
    """
    return cross_entropy(precise(logits) + class_sizes.float().log(), labels)


def ldam(logits: Tensor, labels: Tensor, class_sizes: Tensor, largest_margin: float, scale: float) -> Tensor:
    """Sec. 3.2 of Cao et al. 2019: mean cross-entropy of ``scale`` times the logits, of which that of the true class is
    smaller by its margin C / n^(1/4); a scalar.

    ``logits`` (B,C), ``labels`` (B,), ``class_sizes`` n (C,): numbers of training samples. ``largest_margin``: that of
    the smallest class that has samples.

    >>> import torch
    >>> from despur.losses import ldam
    >>> sizes = torch.tensor([16, 1])
    >>> ldam(torch.zeros(1, 2), torch.tensor([1]), sizes, largest_margin=0.5, scale=2.0)  # log(1 + e)
    tensor(1.3133)
    """
    logits = precise(logits)
    margins = torch.where(class_sizes > 0, class_sizes.double() ** -0.25, 0.0)
    margins = (largest_margin * margins / margins.max()).to(logits.dtype)
    right = one_hot(labels, logits.shape[1])
    return cross_entropy(scale * (logits - right * margins[labels][:, None]), labels)


def cvar(losses: Tensor, alpha: float) -> Tensor:
    """The mean of the worst alpha B of ``losses`` (B,), a scalar: the largest weighted mean with weights of at most 1 /
    (alpha B) (Levy et al. 2020). ``alpha``: a share, above 0, at most 1.

    For a fractional alpha B, the last of the worst has the weight of the fraction. For alpha B below 1: the largest
    loss.

    >>> import torch
    >>> from despur.losses import cvar
    >>> cvar(torch.tensor([2.0, 4.0, 1.0, 3.0]), alpha=0.5)
    tensor(3.5000)
    """
    if not 0 < alpha <= 1 or not len(losses):
        raise ValueError(
            f"alpha={alpha} of {len(losses)} losses: give a share above 0, at most 1, of at least one loss"
        )
    count = alpha * len(losses)
    rank = torch.arange(len(losses), device=losses.device)
    weights = ((count - rank) / count).clamp(0, 1 / count)
    return (weights * losses.sort(descending=True).values).sum()


def group_dro(
    losses: Tensor, group: Tensor, weights: Tensor, step_size: float, margins: Tensor | float = 0.0
) -> tuple[Tensor, Tensor]:
    """Alg. 1 of Sagawa et al. 2019: the weighted sum of groups' mean losses, a scalar, and the next ``weights`` (G,),
    with which it is weighted: give them to the next step.

    ``losses`` (B,), ``group`` (B,): from 0 to G - 1; ``weights`` (G,): at first 1 / G each. ``step_size``: of the
    exponentiated gradient. ``margins`` (G,): adjustments C / sqrt(n); as in the released code, they count for groups
    without samples in the batch, too.

    >>> import torch
    >>> from despur.losses import group_dro
    >>> group_dro(torch.tensor([1.0, 3.0]), torch.tensor([0, 1]), torch.full((2,), 0.5), step_size=0.1)
    (tensor(2.0997), tensor([0.4502, 0.5498]))
    """
    means, _ = group_means(losses, group, len(weights))
    with torch.no_grad():
        weights = weights * torch.exp(step_size * (means + margins))
        weights /= weights.sum()
    return (weights * means).sum(), weights
