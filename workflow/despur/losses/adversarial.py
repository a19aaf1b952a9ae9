"""Learning against a classifier."""

import math

from torch import Tensor


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """The gradient reversal layer of Ganin et al. 2016: the same values; going back, the gradient times
    ``-strength``."""
    return x.detach() - strength * (x - x.detach())


def ramp(done: float, gamma: float) -> float:
    """How far the strength has risen after a share ``done`` of training, 0 to 1 (Ganin et al. 2016); 1 throughout if
    ``gamma`` is 0."""
    return 2 / (1 + math.exp(-gamma * done)) - 1 if gamma else 1.0
