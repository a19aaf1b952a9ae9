"""Several tests at once: Benjamini and Hochberg (1995) for many, Holm (1979) for few; p values of statements."""

from collections.abc import Callable

import numpy as np
from scipy import stats

from despur.storage.store import Array

LEAST = 1e-12  # no p value is smaller
LEVEL, WRONG = 0.004, 0.05  # of bounds, and how many verdicts may be wrong by it (docs/error_rates.md)


def calibrate(p_values: Array) -> Array:
    """p values (N,) that hold for seeds that are skewed, too: what the smallest levels of bounds may be wrong in. Where
    seeds are skewed, errors fall as the root of a level (despur/evidence/statistics/contrasts.py)."""
    return np.asarray(np.minimum(WRONG * np.sqrt(np.asarray(p_values, float) / LEVEL), 1.0))


def adjust_false_discoveries(p_values: Array) -> Array:
    """q values (N,): the smallest rate of false discoveries at which each of N tests is rejected. NaN stays NaN."""
    values = np.array(p_values, float)
    known = ~np.isnan(values)
    values[known] = stats.false_discovery_control(values[known])
    return values


def adjust_holm(p_values: Array) -> Array:
    """p values (N,) that hold for all N tests together. NaN stays NaN: a test that was not made, which counts among the
    N, so that what others measured changes no verdict."""
    values = np.array(p_values, float)
    known = np.flatnonzero(~np.isnan(values))
    order = known[np.argsort(values[known], kind="stable")]
    left = len(values) - np.arange(len(order))  # tests that are not rejected yet
    values[order] = np.minimum(np.maximum.accumulate(values[order] * left), 1.0)
    return values


def find_p_value(is_shown: Callable[[float], Array]) -> float:
    """The smallest one-sided level at which something is shown; 1 where it is not at 0.5."""
    low, high = LEAST, 0.5
    if not is_shown(high):
        return 1.0
    while high / low > 1.001:  # bisection of the logarithm
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_shown(middle) else (middle, high)
    return high
