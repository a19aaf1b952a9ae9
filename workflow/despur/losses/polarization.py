"""Distance polarisation (Chen et al. 2021)."""

from torch import Tensor

from despur.losses.infonce import similarities


def polarization(z: Tensor, low: float, high: float) -> Tensor:
    """Mean over pairs of embeddings (B,D) of |min((D - low) (D - high), 0)|: pairs are pushed out of the margin
    between ``low`` and ``high``. Distances D = (1 - cosine) / 2 lie in [0, 1]."""
    distance = (1 - similarities(z)) / 2
    return -((distance - low) * (distance - high)).clamp(max=0).mean()
