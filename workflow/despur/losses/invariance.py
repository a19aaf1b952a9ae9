"""Invariant risk minimisation (Arjovsky et al. 2019)."""

from torch import Tensor, nn

from despur.losses.groups import group_means


def scale_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """Derivative of each sample's cross-entropy of w * ``logits`` (B,C) by w, at w = 1, (B,). The IRMv1 penalty is the
    square of its mean.

    In closed form: the mean logit under the predicted probabilities, minus the logit of the class. Differentiable in
    the logits."""
    expected = (logits.softmax(dim=1) * logits).sum(dim=1)
    return expected - logits.gather(1, labels[:, None])[:, 0]


def annealed(weight: float, percent: int, done: int, epochs: int) -> float:
    """The weight of the penalty after ``done`` of ``epochs``: 1 in the first ``percent`` of them, then ``weight``."""
    return weight if 100 * done >= percent * epochs else 1.0


def irm(logits: Tensor, labels: Tensor, environment: Tensor, count: int, weight: float) -> dict[str, Tensor]:
    """IRMv1: mean cross-entropy over the environments of a mini-batch + ``weight`` x mean penalty. If the weight is
    above 1, the sum is divided by it (released code of Creager et al. 2021).

    ``logits`` (B,C), ``labels`` (B,), ``environment`` (B,) below ``count``; each loss is a scalar. The penalty of a
    mini-batch is biased upwards, by the variance of its mean derivative."""
    risks, share = group_means(nn.functional.cross_entropy(logits, labels, reduction="none"), environment, count)
    slopes, _ = group_means(scale_gradient(logits, labels), environment, count)
    cross, penalty = (share * risks).sum(), (share * slopes.square()).sum()
    return {
        "loss": (cross + weight * penalty) / max(weight, 1.0),
        "cross_entropy": cross.detach(),
        "penalty": penalty.detach(),
    }
