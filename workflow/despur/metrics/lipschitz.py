"""How much an adapter can stretch distances (Zhang & Re 2022, Sec. 5.3): bounds of the Lipschitz constant of Eq. 4,
before its output is normalised. The paper estimates it with a semidefinite program (Fazlyab et al. 2019), whose value
lies between ours."""

from collections.abc import Mapping

import numpy as np

from despur.storage.store import Array


def layers(weights: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Of a bottleneck's weights: down-projection (H,D) and bias (H,), with batch norm as in evaluation folded in;
    up-projection (D,H)."""
    down, up = weights["down.weight"].astype(float), weights["up.weight"].astype(float)
    if "norm.weight" not in weights:
        return down, np.zeros(len(down)), up
    gain = weights["norm.weight"].astype(float) / np.sqrt(weights["norm.running_var"].astype(float) + 1e-5)
    return (
        gain[:, None] * down,
        weights["norm.bias"].astype(float) - gain * weights["norm.running_mean"].astype(float),
        up,
    )


def product_bound(weights: Mapping[str, Array]) -> float:
    """No larger than this: the product of the layers' spectral norms, as ReLU stretches nothing."""
    down, _, up = layers(weights)
    return float(np.linalg.norm(up, 2) * np.linalg.norm(down, 2))


def sampled_bound(weights: Mapping[str, Array], embeddings: Array) -> float:
    """No smaller than this: the largest spectral norm of the Jacobian at any of ``embeddings`` (N,D)."""
    down, bias, up = layers(weights)
    (_, first), (_, second) = np.linalg.qr(down.T), np.linalg.qr(up)  # norms of H x H in the place of D x D
    active = np.unique(embeddings @ down.T + bias > 0, axis=0)
    return max(float(np.linalg.norm((second * on) @ first.T, 2)) for on in active)
