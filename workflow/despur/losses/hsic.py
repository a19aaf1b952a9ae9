"""Hilbert-Schmidt independence criterion (HSIC; Gretton et al. 2005) as Li et al. 2021 use it, on two views of N
samples."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from despur.losses.infonce import precise


def inverse_multiquadric(x: Tensor, y: Tensor, width: float) -> Tensor:
    """Kernel c / sqrt(c^2 + |x - y|^2) of embeddings ``x`` (B,D) and ``y`` (K,D), normalized to length 1: (B,K).
    ``width``: c (Li et al. 2021).

    >>> import torch
    >>> from despur.losses import inverse_multiquadric
    >>> inverse_multiquadric(torch.eye(2), torch.eye(2), width=1.0)
    tensor([[1.0000, 0.5774],
            [0.5774, 1.0000]])
    """
    with torch.autocast(x.device.type, enabled=False):
        distance = (2 - 2 * normalize(precise(x)) @ normalize(precise(y)).T).clamp(min=0)
        return width * torch.rsqrt(width**2 + distance)


def hsic(k: Tensor, l: Tensor) -> Tensor:  # noqa: E741 (as in the paper)
    """The biased estimate tr(K H L H) / (B - 1)^2 for kernels (B,B): 0 if the two are independent in the sample."""
    centered = k - k.mean(dim=0) - k.mean(dim=1, keepdim=True) + k.mean()
    return (centered * l.T).sum() / (len(k) - 1) ** 2


def dependence_on_identity(k: Tensor) -> Tensor:
    """HSIC(Z, Y) with Y the identity of the sample, without its constant factor (Eq. 5 of Li et al. 2021): a scalar.

    The mean of the kernel ``k`` (2N,2N) over the two views of a sample, minus its mean over all pairs. Rows i and N + i
    are the views of sample i.

    >>> import torch
    >>> from despur.losses import dependence_on_identity, inverse_multiquadric
    >>> views = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])  # of two samples: rows i and 2 + i
    >>> dependence_on_identity(inverse_multiquadric(views, views, width=1.0))
    tensor(0.2113)
    """
    count = len(k) // 2
    other = torch.arange(2 * count, device=k.device).roll(count)
    return k.gather(1, other[:, None]).mean() - k.mean()
