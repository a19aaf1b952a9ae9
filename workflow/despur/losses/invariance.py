"""Invariant risk minimisation (Arjovsky et al. 2019)."""

from torch import Tensor


def scale_gradient(logits: Tensor, labels: Tensor) -> Tensor:
    """d/dw of each sample's cross-entropy at w * ``logits`` (B,C), at w = 1: what the IRMv1 penalty averages and squares. (B,).

    In closed form: the expected logit under the prediction, less the logit of the class. Differentiable in the logits.
    """
    expected = (logits.softmax(dim=1) * logits).sum(dim=1)
    return expected - logits.gather(1, labels[:, None])[:, 0]
