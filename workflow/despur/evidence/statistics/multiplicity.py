"""Several tests at once: Benjamini and Hochberg (1995) for many, Holm (1979) for few; p values of statements."""

from collections.abc import Callable

import numpy as np

from despur.storage.store import Array

LEAST = 1e-12  # no p value is smaller
LEVEL, WRONG = 0.004, 0.05  # of bounds, and how many verdicts may be wrong by it (docs/error_rates.md)


def calibrate(p_values: Array) -> Array:
    """p values (N,) that hold for seeds that are skewed, too: what the smallest levels of bounds may be wrong in. Where
    seeds are skewed, errors fall as the root of a level (despur/evidence/statistics/contrasts.py)."""
    return np.asarray(np.minimum(WRONG * np.sqrt(np.asarray(p_values, float) / LEVEL), 1.0))


def adjust_false_discoveries(p_values: Array) -> Array:
    """q values (N,): the smallest rate of false discoveries at which each of N tests is rejected. NaN stays NaN."""
    return adjust(p_values, lambda ordered: np.minimum.accumulate((ordered * count_up(ordered))[::-1])[::-1])


def adjust_holm(p_values: Array) -> Array:
    """p values (N,) that hold for all N tests together. NaN stays NaN."""
    return adjust(p_values, lambda ordered: np.maximum.accumulate(ordered * np.arange(len(ordered), 0, -1)))


def count_up(ordered: Array) -> Array:
    """N / rank of each of N values in rising order."""
    return np.asarray(len(ordered) / np.arange(1, len(ordered) + 1))


def adjust(p_values: Array, of_ordered: Callable[[Array], Array]) -> Array:
    """What ``of_ordered`` makes of the known p values in rising order, at most 1, in the order given."""
    values = np.asarray(p_values, float)
    places = np.flatnonzero(~np.isnan(values))
    order = places[np.argsort(values[places], kind="stable")]
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(of_ordered(values[order]), 1.0) if len(order) else []
    return adjusted


def find_p_value(is_shown: Callable[[float], Array]) -> float:
    """The smallest one-sided level at which something is shown; 1 where it is not at 0.5."""
    low, high = LEAST, 0.5
    if not is_shown(high):
        return 1.0
    while high / low > 1.001:  # bisection of the logarithm
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if is_shown(middle) else (middle, high)
    return high
