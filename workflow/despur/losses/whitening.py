"""Whitening (Ermolov et al. 2021, Sec. 3)."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


def whiten(z: Tensor, epsilon: float) -> Tensor:
    """Embeddings (B,D), centred and made of identity covariance by the inverse Cholesky factor of theirs; ``epsilon``:
    share of the identity that is mixed into it. Raises torch.linalg.LinAlgError where the covariance is singular, as
    it is for B <= D."""
    with torch.autocast(z.device.type, enabled=False):
        centred = precise(z) - precise(z).mean(dim=0)
        covariance = centred.T @ centred / (len(z) - 1)
        identity = torch.eye(z.shape[1], dtype=covariance.dtype, device=z.device)
        factor = torch.linalg.cholesky((1 - epsilon) * covariance + epsilon * identity)
        return torch.linalg.solve_triangular(factor, centred.T, upper=False).T
