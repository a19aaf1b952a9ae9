"""Hilbert-Schmidt independence criterion (HSIC; Gretton et al. 2005) as Li et al. 2021 use it, on two views of N
samples."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from despur.losses.infonce import precise


def inverse_multiquadric(x: Tensor, y: Tensor, width: float) -> Tensor:
    """Kernel c / sqrt(c^2 + |x - y|^2) of embeddings (B,D) and (K,D), normalized to length 1: (B,K). ``width``: c."""
    with torch.autocast(x.device.type, enabled=False):
        distance = (2 - 2 * normalize(precise(x)) @ normalize(precise(y)).T).clamp(min=0)
        return width * torch.rsqrt(width**2 + distance)


def hsic(k: Tensor, l: Tensor) -> Tensor:  # noqa: E741 (as in the paper)
    """The biased estimate tr(K H L H) / (B - 1)^2 for kernels (B,B): 0 if the two are independent in the sample."""
    centered = k - k.mean(dim=0) - k.mean(dim=1, keepdim=True) + k.mean()
    return (centered * l.T).sum() / (len(k) - 1) ** 2


def dependence_on_identity(k: Tensor) -> Tensor:
    """HSIC(Z, Y) with Y the identity of the sample, without its constant factor (Eq. 5 of Li et al.): a scalar.

    The mean of the kernel ``k`` (2N,2N) over the two views of a sample, minus its mean over all pairs. Rows i and N + i
    are the views of sample i."""
    count = len(k) // 2
    other = torch.arange(2 * count, device=k.device).roll(count)
    return k.gather(1, other[:, None]).mean() - k.mean()
