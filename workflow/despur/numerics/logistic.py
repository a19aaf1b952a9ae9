"""Multinomial logistic regression by Newton's method on the device: a few small matrix products, no gradient steps to
tune."""

import torch
from torch import Tensor

STEPS = 10  # at most; the last ones change nothing that a temperature would show


@torch.no_grad()
def fit(z: Tensor, labels: Tensor, classes: int, penalty: float) -> tuple[Tensor, Tensor]:
    """Weights (C,D) and bias (C,) that minimise mean cross-entropy + penalty / 2 * |weights|^2 on standardised
    features.

    ``z`` (N,D), ``labels`` (N,) below ``classes`` C. Starts from zero, where the curvature is largest: no step
    overshoots there. The weights returned are for features as they are. A penalty keeps probabilities of separable
    classes away from 0 and 1."""
    with torch.autocast(z.device.type, enabled=False):
        mean, std = z.double().mean(dim=0), z.double().std(dim=0).clamp(min=1e-12)
        x = torch.nn.functional.pad(
            (z.double() - mean) / std, (0, 1), value=1.0
        )  # (N,D+1): the last column for the bias
        target = torch.nn.functional.one_hot(labels, classes).double()
        ridge = torch.full((classes, x.shape[1]), penalty, dtype=x.dtype, device=x.device)
        ridge[:, -1] = 1e-6  # biases: only what makes the curvature invertible
        weights = torch.zeros_like(ridge)
        for _ in range(STEPS):
            p = (x @ weights.T).softmax(dim=1)
            gradient = (p - target).T @ x / len(x) + ridge * weights
            outer = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]  # (N,C,C)
            curvature = torch.einsum("nab,ni,nj->aibj", outer, x, x).flatten(2).flatten(0, 1) / len(x)
            bent = curvature + torch.diag(ridge.flatten())
            step = torch.linalg.solve_ex(bent, gradient.flatten())[0].view_as(
                weights
            )  # a GPU need not wait for a check
            weights = weights - step
        scaled = weights[:, :-1] / std
        return scaled.to(z.dtype), (weights[:, -1] - scaled @ mean).to(z.dtype)
