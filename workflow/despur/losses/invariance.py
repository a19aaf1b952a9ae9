"""Invariant risk minimization (Arjovsky et al. 2019)."""

import torch
from torch import Tensor, nn

from despur.losses.groups import group_means


def scale_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """Derivative of each sample's cross-entropy of w * ``logits`` (B,C) by w, at w = 1, (B,). The IRMv1 penalty is the
    square of its mean.

    In closed form: the mean logit under the predicted probabilities, minus the logit of the class. Differentiable in
    the logits."""
    expected = (logits.softmax(dim=1) * logits).sum(dim=1)
    return expected - logits.gather(1, labels[:, None])[:, 0]


def annealed(weight: float, percent: float, done: int, epochs: int) -> float:
    """The weight of the penalty after ``done`` of ``epochs``: 1 in the first ``percent`` of them, then ``weight``."""
    return weight if 100 * done >= percent * epochs else 1.0


def squared_slopes(slopes: Tensor, environment: Tensor, count: int) -> Tensor:
    """Mean over the environments in a mini-batch of the squared mean slope, a scalar: a biased estimate of the penalty,
    too large by the variance of the mean slope. ``slopes``, ``environment``: (B,)."""
    means, share = group_means(slopes, environment, count)
    return (share * means.square()).sum()


def products_of_halves(slopes: Tensor, environment: Tensor, count: int) -> Tensor:
    """As :func:`squared_slopes` without bias: the mean slope of every second sample of an environment times that of the
    others, whose noise is independent (Arjovsky et al. 2019, Sec. 3.2). It can be negative. An environment with less
    than two samples in the mini-batch is left out; 0 if all are."""
    before = nn.functional.one_hot(environment, count).cumsum(dim=0).gather(1, environment[:, None])[:, 0]
    half = 2 * environment + before % 2
    means, share = group_means(slopes, half, 2 * count)
    first, second = means.view(count, 2).unbind(dim=1)
    both = (share.view(count, 2) > 0).all(dim=1)
    return torch.where(both, first * second, 0.0).sum() / both.sum().clamp(min=1)


PENALTIES = {"square": squared_slopes, "halves": products_of_halves}


def irm(
    logits: Tensor, labels: Tensor, environment: Tensor, count: int, weight: float, penalty: str = "square"
) -> dict[str, Tensor]:
    """IRMv1: mean cross-entropy over the environments of a mini-batch + ``weight`` x mean penalty. If the weight is
    above 1, the sum is divided by it (released code of Creager et al. 2021).

    ``logits`` (B,C), ``labels`` (B,), ``environment`` (B,) below ``count``; ``penalty``: a name of PENALTIES; each loss
    is a scalar.

    >>> import torch
    >>> from despur.losses import irm
    >>> logits, labels = torch.tensor([[2.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 3.0]]), torch.tensor([0, 1, 1, 1])
    >>> irm(logits, labels, environment=torch.tensor([0, 0, 1, 1]), count=2, weight=10.0)["penalty"]
    tensor(0.0755)
    """
    risks, share = group_means(nn.functional.cross_entropy(logits, labels, reduction="none"), environment, count)
    cross = (share * risks).sum()
    violation = PENALTIES[penalty](scale_gradient(logits, labels), environment, count)
    return {
        "loss": (cross + weight * violation) / max(weight, 1.0),
        "cross_entropy": cross.detach(),
        "penalty": violation.detach(),
    }
