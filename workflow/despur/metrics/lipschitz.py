"""Bounds of the Lipschitz constant of an adapter (Zhang & Re 2022, Sec. 5.3): of Eq. 4, before its output is
normalized.

The paper estimates this constant with a semidefinite program (Fazlyab et al. 2019), whose value lies between the two
bounds."""

from collections.abc import Mapping

import numpy as np

from despur.storage.store import Array


def layers(weights: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Down-projection (H,D) with bias (H,), into which batch norm as in evaluation is folded, and up-projection (D,H)
    of a bottleneck. ``weights``: its parameters by name."""
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
    """Upper bound: the product of the spectral norms of the layers; the Lipschitz constant of ReLU is 1 (Zhang & Re
    2022, Sec. 5.3).

    ``weights``: (outputs,inputs) of each layer, by name; no unit.

    >>> import numpy as np
    >>> from despur.metrics import product_bound
    >>> product_bound({"down.weight": np.array([[3.0, 4.0]]), "up.weight": np.array([[2.0], [0.0]])})
    10.0
    """
    down, _, up = layers(weights)
    return float(np.linalg.norm(up, 2) * np.linalg.norm(down, 2))


def sampled_bound(weights: Mapping[str, Array], embeddings: Array) -> float:
    """Lower bound: the largest spectral norm of the Jacobian at any of ``embeddings`` (N,D) (Zhang & Re 2022, Sec.
    5.3). ``weights`` as in :func:`product_bound`.

    >>> import numpy as np
    >>> from despur.metrics import sampled_bound
    >>> sampled_bound({"down.weight": np.array([[3.0, 4.0]]), "up.weight": np.array([[2.0], [0.0]])}, np.ones((1, 2)))
    10.0
    """
    down, bias, up = layers(weights)
    (_, first), (_, second) = np.linalg.qr(down.T), np.linalg.qr(up)  # so that norms are of H x H matrices
    patterns = np.unique(embeddings @ down.T + bias > 0, axis=0)  # which hidden units are active
    return max(float(np.linalg.norm((second * active) @ first.T, 2)) for active in patterns)
