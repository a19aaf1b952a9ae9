"""The noise of seeds in simulations of verdicts, with mean 0 and, but where seeds collapse, standard deviation 1.

It is normal; skewed (an exponential whose long tail points down: few seeds miss it); or unequal (half of the seeds vary
three times as much; of numbers, the paper's vary three times as much as ours). Or seeds collapse: each with some
probability, 30 standard deviations below. Those are known by their training accuracy (despur/evidence/runs/
collapsed.py), so that the others count alone; what would be wrong of the mean with them stands beside."""

from collections.abc import Callable

import numpy as np

from despur.storage.store import Array

COLLAPSE = 30.0  # standard deviations
FAR_BELOW, SHARE_BELOW = 19.0, 0.1
LOGNORMAL = np.sqrt((np.e - 1) * np.e)  # standard deviation
Draw = Callable[[np.random.Generator, tuple[int, ...]], Array]


def draw_two_kinds(rng: np.random.Generator, shape: tuple[int, ...], below: float, share: float) -> Array:
    """Normal seeds, a share of which lies so many of their standard deviations below the others; mean 0."""
    return rng.normal(size=shape) - below * ((rng.random(shape) < share) - share)


SHAPES: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "skewed": lambda rng, shape: 1 - rng.exponential(size=shape),
    "unequal": lambda rng, shape: rng.normal(size=shape) * np.where(rng.random(shape) < 0.5, 3.0, 1.0) / np.sqrt(5),
}
COLLAPSING = {"10 % collapse": 0.1, "20 % collapse": 0.2}
# What the rule does not cover: a longer tail than the exponential's, and seeds of which one in ten, as after a collapse
# in part, lies far below the others.
NOT_COVERED: dict[str, Draw] = {
    "long tail": lambda rng, shape: (np.exp(0.5) - rng.lognormal(size=shape)) / LOGNORMAL,
    "10 % far below": lambda rng, shape: (
        draw_two_kinds(rng, shape, FAR_BELOW, SHARE_BELOW) / np.sqrt(1 + SHARE_BELOW * (1 - SHARE_BELOW) * FAR_BELOW**2)
    ),
}
