"""InfoNCE between the two views of each sample of a mini-batch. Embeddings are (2N,D); rows i and N + i are the views
of sample i."""

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize, softplus

from despur.specs.settings import check_choice


def candidates(count: int, negatives: str, device: torch.device) -> Tensor:
    """Which embeddings each of 2N anchors is compared with, bool (2N,2N): its positive and its negatives, not itself.

    ``count``: N. ``negatives``: from the "other_view" (Eq. 2 of Lewis et al. 2023: N - 1) or from "both_views" (Chen et
    al. 2020: 2N - 2).

    >>> import torch
    >>> from despur.losses import candidates
    >>> candidates(2, "other_view", torch.device("cpu")).int()
    tensor([[0, 0, 1, 1],
            [0, 0, 1, 1],
            [1, 1, 0, 0],
            [1, 1, 0, 0]], dtype=torch.int32)
    """
    row = torch.arange(2 * count, device=device)
    check_choice("negatives", negatives, "other_view", "both_views")
    if negatives == "both_views":
        return row[:, None] != row
    return (row[:, None] < count) != (row < count)


def positives(count: int, device: torch.device) -> Tensor:
    """Row of each anchor's other view, (2N,)."""
    return torch.arange(2 * count, device=device).roll(count)


def check_temperature(temperature: float | Tensor) -> None:
    """Raises ValueError for a number that is not above 0; tensors are not read, which may lie on a GPU."""
    if not isinstance(temperature, Tensor) and not temperature > 0:
        raise ValueError(f"temperature={temperature}: similarities are divided by it; give a number above 0")


def precise(z: Tensor) -> Tensor:
    """The same values in at least single precision."""
    return z.to(torch.promote_types(z.dtype, torch.float32))


def similarities(z: Tensor) -> Tensor:
    """Cosine similarities (B,B) of all pairs of embeddings (B,D). In at least single precision: they are divided by
    small temperatures."""
    with torch.autocast(z.device.type, enabled=False):
        unit = normalize(precise(z))
        return unit @ unit.T


def cosine(z: Tensor, p: Tensor) -> Tensor:
    """Cosine similarity of rows, in at least single precision: (...,B,D), (...,B,D) -> (...,B)."""
    return cosine_similarity(precise(z), precise(p), dim=-1)


def info_nce(similarity: Tensor, positive: Tensor, allowed: Tensor, temperature: float | Tensor) -> Tensor:
    """Mean over anchors i of -log(exp(s_ip / t_ip) / sum_j exp(s_ij / t_ij)), p the positive, j over what is allowed.

    Eq. 4 of Lewis et al. 2023; Eq. 2 if the temperature is one number. ``similarity`` s (B,K); ``positive`` (B,), the
    column p; ``allowed`` bool (B,K), true for the positive, too; ``temperature`` t, one number above 0 (else
    ValueError) or (B,K).

    >>> import torch
    >>> from despur.losses import info_nce
    >>> similarity, positive = torch.tensor([[0.9, 0.1, 0.0]]), torch.tensor([0])
    >>> info_nce(similarity, positive, torch.tensor([[True, True, False]]), temperature=0.5)
    tensor(0.1839)
    """
    check_temperature(temperature)
    return cross_entropy((similarity / temperature).masked_fill(~allowed, -torch.inf), positive)


def two_view_contrast(z: Tensor, allowed: Tensor, temperature: float | Tensor) -> Tensor:
    """InfoNCE of embeddings ``z`` (2N,D), a scalar: each view is an anchor, and its positive is the other view of its
    sample. Eq. 1 of Chen et al. 2020 with candidates from "both_views", Eq. 2 of Lewis et al. 2023 from "other_view".

    ``allowed``: what :func:`candidates` gives. ``temperature``: one number or (2N,2N).

    >>> import torch
    >>> from despur.losses import candidates, two_view_contrast
    >>> z = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.2], [0.2, 1.0]])  # rows i and 2 + i: the views of sample i
    >>> two_view_contrast(z, candidates(2, "both_views", z.device), temperature=0.5)
    tensor(0.3564)
    """
    return info_nce(similarities(z), positives(len(z) // 2, z.device), allowed, temperature)


def negatives(z: Tensor, kind: str, temperature: float) -> Tensor:
    """Similarities over temperature (2N,2N) of each view with its negatives (:func:`candidates` without the positive);
    -inf elsewhere. ``z``: (2N,D)."""
    count = len(z) // 2
    allowed = candidates(count, kind, z.device).scatter(1, positives(count, z.device)[:, None], False)
    return (similarities(z) / temperature).masked_fill(~allowed, -torch.inf)


def tell_apart(positive: Tensor, negative: Tensor) -> Tensor:
    """-log(exp(p) / (exp(p) + sum_k exp(n_k))), (...,B), of scores p, ``positive`` (...,B), and n, ``negative``
    (B,K)."""
    return softplus(negative.logsumexp(dim=-1) - positive)
