"""Adversarial training: gradient reversal and the rise of its strength (Ganin et al. 2016)."""

import math

from torch import Tensor


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """The gradient reversal layer of Ganin et al. 2016: ``x`` (...) unchanged; its gradient is multiplied by
    ``-strength``."""
    return x.detach() - strength * (x - x.detach())


def ramp(done: float, gamma: float) -> float:
    """Factor of the strength, 0 to 1, after a share ``done`` of training (Ganin et al. 2016); always 1 if
    ``gamma`` is 0."""
    return 2 / (1 + math.exp(-gamma * done)) - 1 if gamma else 1.0
