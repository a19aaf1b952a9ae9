"""Soft assignments to prototypes, the codes of SwAV (Caron et al. 2020, Sec. 3.1)."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


@torch.no_grad()
def sinkhorn_codes(scores: Tensor, epsilon: float, iterations: int) -> Tensor:
    """Soft assignments (B,K) of samples to prototypes, from ``scores`` (B,K). Rows sum to 1; after enough iterations,
    columns sum to B / K (Caron et al. 2020, Sec. 3.1).

    ``epsilon``: scores are divided by it; a small one gives hard assignments. ``iterations``: how often columns and
    then rows are scaled.

    >>> import torch
    >>> from despur.losses import sinkhorn_codes
    >>> sinkhorn_codes(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), epsilon=0.05, iterations=3)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    with torch.autocast(scores.device.type, enabled=False):
        log = precise(scores) / epsilon
        for _ in range(iterations):
            log = log.log_softmax(dim=0).log_softmax(dim=1)
        return log.exp()
