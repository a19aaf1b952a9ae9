"""How much of a saliency map lies on the foreground: where a model looks, as a number."""

import numpy as np

from despur.storage.store import Array


def share_inside(maps: Array, masks: Array) -> Array:
    """Share of each map's total inside its mask, (N,). ``maps`` (N,H,W), not negative; ``masks`` bool (N,H,W). NaN for
    an empty map."""
    total = maps.sum(axis=(1, 2), dtype=float)
    inside = (maps * masks).sum(axis=(1, 2), dtype=float)
    return np.divide(inside, total, out=np.full(len(maps), np.nan), where=total > 0)
