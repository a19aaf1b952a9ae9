"""InfoNCE between the two views of every sample of a mini-batch: embeddings (2N,D), row i and row N + i are views of
sample i."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize, softplus


def candidates(count: int, negatives: str, device: torch.device) -> Tensor:
    """Which of 2N embeddings an anchor is compared with, bool (2N,2N): its positive and negatives, never itself.

    ``negatives`` of ``count`` N samples: those of the "other_view" (Eq. 2 of Lewis et al. 2023: N - 1) or of
    "both_views" (Chen et al. 2020: 2N - 2)."""
    row = torch.arange(2 * count, device=device)
    if negatives == "both_views":
        return row[:, None] != row
    return (row[:, None] < count) != (row < count)


def positives(count: int, device: torch.device) -> Tensor:
    """Row of each anchor's other view, (2N,)."""
    return torch.arange(2 * count, device=device).roll(count)


def precise(z: Tensor) -> Tensor:
    """In single precision at least."""
    return z.to(torch.promote_types(z.dtype, torch.float32))


def similarities(z: Tensor) -> Tensor:
    """Cosine similarity of all pairs of embeddings (B,D), in full precision: they are divided by small temperatures.
    (B,B)."""
    with torch.autocast(z.device.type, enabled=False):
        unit = normalize(precise(z))
        return unit @ unit.T


def cosine(z: Tensor, p: Tensor) -> Tensor:
    """Cosine similarity of rows, in full precision: (...,B,D), (...,B,D) -> (...,B)."""
    return cosine_similarity(precise(z), precise(p), dim=-1)


def info_nce(similarity: Tensor, positive: Tensor, allowed: Tensor, temperature: float | Tensor) -> Tensor:
    """-log of the share that exp(s_ip / t_ip) of the positive p has in the sum of exp(s_ij / t_ij) over what is
    allowed.

    Eq. 4 of Lewis et al. 2023; Eq. 2 where the temperature is one number. ``similarity`` (B,K), ``positive`` (B,)
    column, ``allowed`` bool (B,K) with the positive, ``temperature`` one number or (B,K). Mean over anchors."""
    return cross_entropy((similarity / temperature).masked_fill(~allowed, -torch.inf), positive)


def two_view_contrast(z: Tensor, allowed: Tensor, temperature: float | Tensor) -> Tensor:
    """InfoNCE of embeddings (2N,D): each view is an anchor, its positive the other view of its sample."""
    return info_nce(similarities(z), positives(len(z) // 2, z.device), allowed, temperature)


def negatives(z: Tensor, kind: str, temperature: float) -> Tensor:
    """Similarities over temperature (2N,2N) of each view and its negatives (:func:`candidates` without the positive);
    elsewhere -inf."""
    count = len(z) // 2
    allowed = candidates(count, kind, z.device).scatter(1, positives(count, z.device)[:, None], False)
    return (similarities(z) / temperature).masked_fill(~allowed, -torch.inf)


def tell_apart(positive: Tensor, negative: Tensor) -> Tensor:
    """-log of exp(p) / (exp(p) + sum_k exp(n_k)) for scores ``positive`` (...,B) and ``negative`` (B,K): (...,B)."""
    return softplus(negative.logsumexp(dim=-1) - positive)
