"""Supervised contrastive losses of a mini-batch by class and by attribute (Shen et al. 2021, Eq. 2-3).

In Eq. 2, sample i contributes |P| / d (log Z_i - mean similarity to its positives), with Z_i the sum in the denominator
and d = |P| (the paper) or 1 + |P| (released code). All similarities to positives come from one product with their
summed representations. In L_scl - L_fcl the log Z_i cancel where both losses contrast over the batch and d = |P|. So
they are computed only for samples whose weights do not cancel."""

import torch
from torch import Tensor

from despur.losses.infonce import check_temperature, precise
from despur.specs.settings import check_choice


def positive_similarities(unit: Tensor, label: Tensor, temperature: float, plus: int) -> tuple[Tensor, Tensor]:
    """Sum of each sample's similarities to its positives over temperature x d, with d = |P| + ``plus``; and |P| / d:
    (N,), (N,).

    ``unit``: (N,D) unit vectors. Positives: the other samples of the same ``label`` (N,). Zero for a sample without
    positives."""
    member = torch.nn.functional.one_hot(label).to(unit.dtype)
    others = (unit * (member.T @ unit)[label]).sum(dim=1) - unit.square().sum(dim=1)
    count = member.sum(dim=0)[label] - 1
    divisor = (count + plus).clamp(min=1)
    return others / (temperature * divisor), count / divisor


def sum_log_partitions(unit: Tensor, temperature: float, *terms: tuple[Tensor, Tensor | None]) -> Tensor:
    """Sum over ``terms`` (weight, scope) of sum_i weight_i log Z_i: a scalar.

    log Z_i = log sum_q exp(h_i.h_q / temperature) over q != i, for ``unit`` (N,D) unit vectors h. Weights are (N,). A
    term with a scope (N,) sums only over q with the scope of i. All terms share one matrix of similarities, of the
    samples with a weight."""
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
    """Weights (N,): a sum over samples with them is the mean over classes of the mean within a class."""
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
    """L_scl - L_fcl of Eq. 3; and, for diagnostics, the sums over positives of L_scl and of L_fcl: three scalars.

    ``unit``: (N,D) unit vectors, whose products are divided by ``temperature``; ``y``, ``a``: classes and attributes
    (N,). ``parts``: both losses, or scl (L_scl alone), or fcl (-L_fcl alone). ``within``: L_fcl contrasts over the
    batch (the paper) or within each class (released code; with ``mean``, averaged over classes). ``plus``: 0 (the
    paper) or 1 (released code) is added to |P|. ``mean``: over samples, as the released code has it; Eq. 2 is the sum.
    Raises ValueError for an attribute below 0, which is not known, and for a ``temperature`` that is not above 0.

    >>> import torch
    >>> from despur.losses import fair_contrast
    >>> unit = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [-1.0, 1.0]]))
    >>> y, a = torch.tensor([0, 0, 1, 1]), torch.tensor([0, 1, 0, 1])
    >>> loss, by_class, by_attribute = fair_contrast(unit, y, a, temperature=0.5)
    >>> loss
    tensor(-1.4142)
    """
    check_temperature(temperature)
    check_choice("parts", parts, "both", "scl", "fcl")
    check_choice("within", within, "batch", "class")
    unit, y, a = precise(unit), y.long(), a.long()
    if len(a) and int(a.min()) < 0:
        raise ValueError("a negative attribute value means not known: leave out these samples")
    weights = torch.full_like(unit[:, 0], 1 / len(unit) if mean else 1.0)
    fair_each = class_weights(y, unit.dtype) if within == "class" and mean else weights
    fair_label = y * (int(a.max()) + 1) + a if within == "class" else a
    with torch.autocast(unit.device.type, enabled=False):  # a small temperature needs precise similarities
        near, share = positive_similarities(unit, y, temperature, plus)
        fair_near, fair_share = positive_similarities(unit, fair_label, temperature, plus)
        weight = weights * share if parts != "fcl" else torch.zeros_like(weights)
        fair_weight = fair_each * fair_share if parts != "scl" else torch.zeros_like(weights)
        pulled, fair_pulled = (weights * near).sum(), (fair_each * fair_near).sum()
        total = -pulled * (parts != "fcl") + fair_pulled * (parts != "scl")
        terms = [(weight, None), (-fair_weight, y)] if within == "class" else [(weight - fair_weight, None)]
        total = total + sum_log_partitions(unit, temperature, *terms)
    return total, pulled.detach(), fair_pulled.detach()
