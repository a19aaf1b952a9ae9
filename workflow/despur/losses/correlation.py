"""The loss of Barlow Twins: embeddings without redundancy (Zbontar et al. 2021)."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


def cross_correlation(first: Tensor, second: Tensor) -> Tensor:
    """Correlations (D,D) over the batch between the dimensions of two views' embeddings, ``first`` (N,D) and
    ``second`` (N,D) (Zbontar et al. 2021, Eq. 2).

    >>> import torch
    >>> from despur.losses import cross_correlation
    >>> first = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> cross_correlation(first, -first)
    tensor([[-1.0000,  0.0000],
            [ 0.0000, -1.0000]])
    """
    with torch.autocast(first.device.type, enabled=False):
        a, b = (
            (z - z.mean(dim=0)) / z.std(dim=0, correction=0).clamp(min=1e-6) for z in (precise(first), precise(second))
        )
        return a.T @ b / len(a)


def redundancy(first: Tensor, second: Tensor, weight: float) -> Tensor:
    """Eq. 1 of Zbontar et al. 2021: squared distance of the :func:`cross_correlation` of ``first`` and ``second`` to
    the identity, a scalar. ``weight``: lambda, of the off-diagonal terms.

    >>> import torch
    >>> from despur.losses import redundancy
    >>> first = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> redundancy(first, -first, weight=0.005)
    tensor(8.)
    """
    correlation = cross_correlation(first, second)
    diagonal = correlation.diagonal()
    return (1 - diagonal).square().sum() + weight * (correlation.square().sum() - diagonal.square().sum())
