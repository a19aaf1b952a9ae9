"""Invariant risk minimisation (Arjovsky et al. 2019)."""

from torch import Tensor, nn

from despur.losses.groups import group_means


def scale_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """d/dw of each sample's cross-entropy at w * ``logits`` (B,C), at w = 1: what the IRMv1 penalty averages and
    squares. (B,).

    In closed form: the expected logit under the prediction, less the logit of the class. Differentiable in the logits.
    """
    expected = (logits.softmax(dim=1) * logits).sum(dim=1)
    return expected - logits.gather(1, labels[:, None])[:, 0]


def annealed(weight: float, percent: int, done: int, epochs: int) -> float:
    """The penalty's weight after ``done`` of ``epochs``: 1 in the first ``percent`` of them."""
    return weight if 100 * done >= percent * epochs else 1.0


def irm(logits: Tensor, labels: Tensor, environment: Tensor, count: int, weight: float) -> dict[str, Tensor]:
    """IRMv1: mean cross-entropy of the environments in a mini-batch + ``weight`` x their mean penalty, in all divided
    by the weight where it is above 1 (released code of Creager et al. 2021).

    ``logits`` (B,C), ``labels`` (B,), ``environment`` (B,) below ``count``; each loss a scalar. A mini-batch's penalty
    is biased upwards by the variance of its slope."""
    risks, share = group_means(nn.functional.cross_entropy(logits, labels, reduction="none"), environment, count)
    slopes, _ = group_means(scale_gradient(logits, labels), environment, count)
    cross, penalty = (share * risks).sum(), (share * slopes.square()).sum()
    return {
        "loss": (cross + weight * penalty) / max(weight, 1.0),
        "cross_entropy": cross.detach(),
        "penalty": penalty.detach(),
    }
