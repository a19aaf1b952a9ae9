"""Supervised contrastive losses of a mini-batch by class and by attribute (Shen et al. 2021, Eq. 2-3), in closed form.

Eq. 2 is, per sample i, |P| / d (log Z_i - mean similarity to its positives) with d = |P| (the paper) or 1 + |P|
(released code). The sum of similarities to all positives is one product with their summed representations. Where the
losses by class and by attribute are subtracted over the same batch, their log Z_i cancel (for d = |P|), so that they
are computed only for samples that keep a part of them."""

import torch
from torch import Tensor


def pull(unit: Tensor, label: Tensor, temperature: float, plus: int) -> tuple[Tensor, Tensor]:
    """For unit vectors (N,D): sum of similarities to the other samples of the label, over temperature and |P| +
    ``plus``; and |P| over that: (N,), (N,). Zero for a sample without positives."""
    member = torch.nn.functional.one_hot(label).to(unit.dtype)
    others = (unit * (member.T @ unit)[label]).sum(dim=1) - unit.square().sum(dim=1)
    count = member.sum(dim=0)[label] - 1
    divisor = (count + plus).clamp(min=1)
    return others / (temperature * divisor), count / divisor


def weighted_partitions(unit: Tensor, temperature: float, *terms: tuple[Tensor, Tensor | None]) -> Tensor:
    """Sum over terms (weight (N,), scope) of sum_i weight_i log Z_i, where log Z_i = log sum over q of exp(h_i.h_q /
    t), q != i and, with a scope (N,), of the same value. One matrix of similarities, of the samples that have a
    weight, serves all terms."""
    rows = torch.stack([weight != 0 for weight, _ in terms]).any(dim=0).nonzero()[:, 0]
    itself = rows[:, None] == torch.arange(len(unit), device=unit.device)
    similarity = (unit[rows] @ unit.T / temperature).masked_fill(itself, -torch.inf)
    total = unit.new_zeros(())
    for weight, scope in terms:
        used = weight[rows].nonzero()[:, 0]
        inside = similarity[used]
        if scope is not None:
            inside = inside.masked_fill(scope[rows[used]][:, None] != scope, -torch.inf)
        total = total + (weight[rows[used]] * inside.logsumexp(dim=1)).sum()
    return total


def class_weights(label: Tensor, dtype: torch.dtype) -> Tensor:
    """Weights (N,) under which a sum over samples is the mean over classes of the mean within a class."""
    sizes = torch.bincount(label).to(dtype)
    return 1 / (sizes[label] * (sizes > 0).sum())


def fair_contrast(
    unit: Tensor,
    y: Tensor,
    a: Tensor,
    temperature: float,
    *,
    parts: str = "both",
    within: str = "batch",
    plus: int = 0,
    mean: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:
    """L_scl - L_fcl of Eq. 3, and both by their positives' part alone (diagnostics): scalars.

    ``unit``: (N,D) unit vectors; ``y``, ``a``: (N,). ``parts``: both, or scl (L_scl), or fcl (-L_fcl). ``within``:
    L_fcl contrasts over the batch (paper), or within each class (released code; with ``mean``, averaged over classes).
    """
    each = torch.full_like(unit[:, 0], 1 / len(unit) if mean else 1.0)
    fair_each = class_weights(y, unit.dtype) if within == "class" and mean else each
    cell = y * (int(a.max()) + 1) + a if within == "class" else a
    near, share = pull(unit, y, temperature, plus)
    fair_near, fair_share = pull(unit, cell, temperature, plus)
    weight = each * share if parts != "fcl" else torch.zeros_like(each)
    fair_weight = fair_each * fair_share if parts != "scl" else torch.zeros_like(each)
    pulled, fair_pulled = (each * near).sum(), (fair_each * fair_near).sum()
    total = -pulled * (parts != "fcl") + fair_pulled * (parts != "scl")
    terms = [(weight, None), (-fair_weight, y)] if within == "class" else [(weight - fair_weight, None)]
    total = total + weighted_partitions(unit, temperature, *terms)
    return total, pulled.detach(), fair_pulled.detach()
