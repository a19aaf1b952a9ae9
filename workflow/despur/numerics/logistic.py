"""Multinomial logistic regression by Newton's method, on the device: a few small matrix products, no step size."""

import torch
from torch import Tensor

STEPS = 10  # of Newton's method; the last ones change the weights only negligibly


@torch.no_grad()
def fit(z: Tensor, labels: Tensor, classes: int, penalty: float) -> tuple[Tensor, Tensor]:
    """Weights (C,D) and biases (C,) that minimize mean cross-entropy + penalty / 2 * |weights|^2 on standardized
    features.

    ``z`` (N,D), ``labels`` (N,) below ``classes`` C. The returned weights are for ``z`` as it is. Starts from zero,
    where the curvature is largest, so that no step overshoots. The penalty keeps the probabilities of separable classes
    away from 0 and 1."""
    with torch.autocast(z.device.type, enabled=False):
        mean, std = z.double().mean(dim=0), z.double().std(dim=0).clamp(min=1e-12)
        # (N,D+1): the last column for the bias
        x = torch.nn.functional.pad((z.double() - mean) / std, (0, 1), value=1.0)
        target = torch.nn.functional.one_hot(labels, classes).double()
        ridge = torch.full((classes, x.shape[1]), penalty, dtype=x.dtype, device=x.device)
        ridge[:, -1] = 1e-6  # biases: only so much that the curvature is invertible
        weights = torch.zeros_like(ridge)
        for _ in range(STEPS):
            p = (x @ weights.T).softmax(dim=1)
            gradient = (p - target).T @ x / len(x) + ridge * weights
            outer = torch.diag_embed(p) - p[:, :, None] * p[:, None, :]  # (N,C,C)
            curvature = torch.einsum("nab,ni,nj->aibj", outer, x, x).flatten(2).flatten(0, 1) / len(x)
            hessian = curvature + torch.diag(ridge.flatten())
            step = torch.linalg.solve_ex(hessian, gradient.flatten())[0]  # without a check: a GPU would wait
            weights = weights - step.view_as(weights)
        scaled = weights[:, :-1] / std
        return scaled.to(z.dtype), (weights[:, -1] - scaled @ mean).to(z.dtype)
