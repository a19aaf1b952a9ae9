"""Adversarial training: gradient reversal and the rise of its strength (Ganin et al. 2016)."""

import math

from torch import Tensor


def reverse_gradient(x: Tensor, strength: float) -> Tensor:
    """The gradient reversal layer of Ganin et al. 2016: ``x`` of any shape, unchanged; its gradient is multiplied by
    ``-strength``.

    >>> import torch
    >>> from despur.losses import reverse_gradient
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> reverse_gradient(x, strength=0.5).sum().backward()
    >>> x.grad
    tensor([-0.5000])
    """
    return x.detach() - strength * (x - x.detach())


def ramp(done: float, gamma: float) -> float:
    """Factor of the strength, 0 to 1, after a share ``done`` of training (Ganin et al. 2016); always 1 if
    ``gamma`` is 0.

    >>> from despur.losses import ramp
    >>> ramp(0.0, gamma=10), round(ramp(0.5, gamma=10), 3)
    (0.0, 0.987)
    """
    return 2 / (1 + math.exp(-gamma * done)) - 1 if gamma else 1.0
