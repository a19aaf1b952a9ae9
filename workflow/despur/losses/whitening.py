"""Whitening (Ermolov et al. 2021, Sec. 3)."""

import torch
from torch import Tensor

from despur.losses.infonce import precise


def whiten(z: Tensor, epsilon: float) -> Tensor:
    """The embeddings ``z`` (B,D), transformed so that they have mean 0 and identity covariance: by the inverse Cholesky
    factor of their covariance (Ermolov et al. 2021, Sec. 3).

    ``epsilon``: share of the identity that is mixed into the covariance. Raises torch.linalg.LinAlgError if it is
    singular, as it is for B <= D without ``epsilon``.

    >>> import torch
    >>> from despur.losses import whiten
    >>> z = whiten(torch.tensor([[2.0, 1.0], [-1.0, 0.0], [0.0, 3.0], [1.0, -1.0]]), epsilon=0.0)
    >>> torch.allclose(torch.cov(z.T), torch.eye(2), atol=1e-6)
    True
    """
    with torch.autocast(z.device.type, enabled=False):
        centered = precise(z) - precise(z).mean(dim=0)
        covariance = centered.T @ centered / (len(z) - 1)
        identity = torch.eye(z.shape[1], dtype=covariance.dtype, device=z.device)
        if epsilon == 0 and len(z) <= z.shape[1]:  # rounding may hide that it is singular
            raise torch.linalg.LinAlgError(  # type: ignore[attr-defined]
                f"{len(z)} embeddings of {z.shape[1]} values: whitening needs more"
            )
        factor = torch.linalg.cholesky((1 - epsilon) * covariance + epsilon * identity)
        return torch.linalg.solve_triangular(factor, centered.T, upper=False).T
