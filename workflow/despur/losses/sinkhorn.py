"""Codes of SwAV (Caron et al. 2020, Sec. 3.1)."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


@torch.no_grad()
def sinkhorn(scores: Tensor, epsilon: float, iterations: int) -> Tensor:
    """Soft assignments (B,K) of samples to prototypes from their scores: rows sum to 1, columns, after enough iterations, to B / K."""
    with torch.autocast(scores.device.type, enabled=False):
        code = ((precise(scores) - precise(scores).max()) / epsilon).exp()
        for _ in range(iterations):
            code = code / code.sum(dim=0)
            code = code / code.sum(dim=1, keepdim=True)
        return code
