"""Penalties on a predictor that is not equally good in every environment."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def irm_penalty(logits: Tensor, labels: Tensor) -> Tensor:
    """IRMv1 (Arjovsky et al. 2019) in one environment: the squared derivative of its mean cross-entropy by a factor on the logits, at 1.

    ``logits`` (B,C), ``labels`` (B,). A scalar that can itself be differentiated.
    """
    factor = torch.ones((), device=logits.device, requires_grad=True)
    (derivative,) = torch.autograd.grad(cross_entropy(logits.float() * factor, labels), factor, create_graph=True)
    return derivative.square()
