"""Learning against a classifier."""

from torch import Tensor


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """The gradient reversal layer of Ganin et al. 2016: the same values; going back, the gradient times ``-strength``."""
    return x.detach() - strength * (x - x.detach())
