"""Distance polarization (Chen et al. 2021)."""

from torch import Tensor

from despur.losses.infonce import similarities


def distance_polarization(z: Tensor, low: float, high: float) -> Tensor:
    """Mean over all B x B pairs of embeddings ``z`` (B,D) of |min((d - low) (d - high), 0)|, a scalar; it is 0 for an
    embedding with itself. It pushes the distances d = (1 - cosine) / 2, which lie in [0, 1], out of the margin between
    ``low`` and ``high`` (Chen et al. 2021).

    >>> import torch
    >>> from despur.losses import distance_polarization
    >>> distance_polarization(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), low=0.1, high=0.9)  # two of four at 0.5
    tensor(0.0800)
    """
    distance = (1 - similarities(z)) / 2
    return -((distance - low) * (distance - high)).clamp(max=0).mean()
