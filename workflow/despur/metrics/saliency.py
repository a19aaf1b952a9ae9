"""The share of a saliency map that lies on the foreground."""

import numpy as np

from despur.numerics.checks import read_mask
from despur.storage.store import Array


def share_inside(maps: Array, masks: Array) -> Array:
    """Share of the sum of each map that lies inside its mask, (N,); NaN for a map whose sum is 0. The energy-based
    pointing game of Wang et al. 2020 (Score-CAM), with a mask in the place of their box.

    ``maps`` (N,H,W), not negative; ``masks`` bool (N,H,W).

    >>> import numpy as np
    >>> from despur.metrics import share_inside
    >>> share_inside(np.array([[[1.0, 3.0]]]), np.array([[[False, True]]]))
    array([0.75])
    """
    total = maps.sum(axis=(1, 2), dtype=float)
    inside = (maps * read_mask(masks, "masks")).sum(axis=(1, 2), dtype=float)
    return np.divide(inside, total, out=np.full(len(maps), np.nan), where=total > 0)
