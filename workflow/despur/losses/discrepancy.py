"""Discrepancies between the domains of a mini-batch: of means in a kernel's space (MMD, Gretton et al. 2012), of means
and covariances (CORAL, Sun & Saenko 2016)."""

from itertools import combinations

import torch
from torch import Tensor

from despur.losses.infonce import precise


def mean_rbf_kernel(z: Tensor, count: int) -> Tensor:
    """Mean of ``count`` RBF kernels of representations (B,D), (B,B), with zeros on the diagonal.

    exp(-d^2 / (s m)), with m the median squared distance in the mini-batch, a constant for gradients, and s = ..., 1/2,
    1, 2, ..."""
    distance = torch.cdist(z, z, compute_mode="donot_use_mm_for_euclid_dist").square()
    others = ~torch.eye(len(z), dtype=torch.bool, device=z.device)
    # all but the diagonal
    median = distance.detach().flatten()[1:].view(len(z) - 1, -1)[:, :-1].median().clamp(min=1e-12)
    scales = [2.0 ** (i - count // 2) for i in range(count)]
    return torch.stack([torch.exp(-distance / (scale * median)) for scale in scales]).mean(dim=0) * others


def mmd(z: Tensor, domain: Tensor, domains: int, kernels: int) -> Tensor:
    """Squared MMD, mean over the pairs of domains with at least two samples each; 0 without such a pair. A scalar.

    ``z`` (B,D), ``domain`` (B,) below ``domains``. ``kernels``: how many RBF kernels are averaged, with bandwidths at
    powers of two around the median distance. The unbiased estimate (Gretton et al. 2012, Eq. 3): its expectation
    is zero for equal distributions, so it can be negative.

    >>> import torch
    >>> from despur.losses import mmd
    >>> z, domain = torch.tensor([[0.0], [1.0], [4.0], [5.0]]), torch.tensor([0, 0, 1, 1])
    >>> mmd(z, domain, domains=2, kernels=1)
    tensor(1.4056)
    """
    z = precise(z)
    if len(z) < 4:
        return z[:0].sum()  # 0, with a gradient
    with torch.autocast(z.device.type, enabled=False):
        member = torch.nn.functional.one_hot(domain.long(), domains).to(z.dtype)
        size = member.sum(dim=0)
        has_two, size = size >= 2, size.clamp(min=2)
        sums = member.T @ mean_rbf_kernel(z, kernels) @ member
        within = sums.diagonal() / (size * (size - 1))
        squared = within[:, None] + within[None, :] - 2 * sums / (size[:, None] * size[None, :])
        pairs = (has_two[:, None] & has_two[None, :]).triu(diagonal=1)
        return (squared * pairs).sum() / pairs.sum().clamp(min=1)


def coral(z: Tensor, domain: Tensor, domains: int) -> Tensor:
    """Mean squared difference of the entries of two domains' means, plus that of their covariances; mean over the pairs
    of domains with at least two samples each; 0 without such a pair. A scalar.

    ``z`` (B,D), ``domain`` (B,) below ``domains``. Sun & Saenko 2016, Eq. 1, have covariances alone, over 4.

    >>> import torch
    >>> from despur.losses import coral
    >>> z, domain = torch.tensor([[0.0], [1.0], [4.0], [5.0]]), torch.tensor([0, 0, 1, 1])
    >>> coral(z, domain, domains=2)  # means differ by 4, variances by 0
    tensor(16.)
    """
    if len(domain) and not (int(domain.min()) >= 0 and int(domain.max()) < domains):
        raise ValueError(f"domains are from 0 to {domains - 1}; got {domain.unique().tolist()[:5]}")
    z = precise(z)
    with torch.autocast(z.device.type, enabled=False):
        parts = [part for label in range(domains) if len(part := z[domain == label]) > 1]
        moments = [(part.mean(dim=0), torch.cov(part.T)) for part in parts]
        pairs = [
            sum(((ours - theirs).square().mean() for ours, theirs in zip(first, second, strict=True)), z.new_zeros(()))
            for first, second in combinations(moments, 2)
        ]
        return torch.stack(pairs).mean() if pairs else z[:0].sum()
