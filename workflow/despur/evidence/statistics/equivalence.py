"""Differences from a printed number, and whether they are shown to be small or large: statistics alone, no files.

A difference is within a tolerance where its whole interval is (two one-sided tests, Schuirmann 1987), beyond it where
its whole interval lies outside. The interval is sqrt(t^2 V_seeds + z^2 V_test) at ``LEVEL`` on either side, and half a
unit of the last printed digit. The level is stricter than the 5 % that a verdict may be wrong in, as Student's t is
wrong more often than its level where seeds are skewed (docs/error_rates.md)."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import stats

from despur.evidence.statistics.contrasts import LEVEL, ROUNDING
from despur.storage.store import Array

THREEFOLD = 3.0  # what is assumed of a paper's deviation where it prints none, beside taking its number as fixed


class PrintedValue(NamedTuple):
    """A mean over so many seeds; taken as fixed without a deviation. ``rounding``: half a unit of its last digit."""

    mean: float
    std: float | None
    seeds: int
    rounding: float = 0.0

    def scale(self, factor: float) -> "PrintedValue":
        """The same in another unit."""
        std = None if self.std is None else self.std * factor
        return PrintedValue(self.mean * factor, std, self.seeds, self.rounding * factor)


@dataclass(frozen=True)
class Difference:
    """Our mean over seeds minus a printed number, (...), in the unit of the tolerance.

    ``own_variance``, ``printed_variance``: of the two means over seeds; 0 for a printed number that is taken as fixed.
    ``freedom``: degrees of freedom behind each. ``test_variance``: of the difference, by test samples. ``rounding``:
    half a unit of the last printed digit."""

    estimate: Array
    own_variance: Array
    printed_variance: Array
    freedom: tuple[int, int]
    test_variance: float = 0.0
    rounding: float = 0.0

    @property
    def seed_freedom(self) -> Array:
        """Of Welch and Satterthwaite."""
        ours, theirs = self.own_variance, self.printed_variance
        with np.errstate(divide="ignore", invalid="ignore"):
            freedom = (ours + theirs) ** 2 / (ours**2 / self.freedom[0] + theirs**2 / max(self.freedom[1], 1))
        return np.where(np.isfinite(freedom), freedom, self.freedom[0])

    def half_width(self, level: float) -> Array:
        """What the interval's end is away from the estimate, without rounding, (...)."""
        t, z = stats.t.isf(level, self.seed_freedom), stats.norm.isf(level)
        return np.asarray(np.sqrt(t**2 * (self.own_variance + self.printed_variance) + z**2 * self.test_variance))

    @property
    def has_interval(self) -> Array:
        """Whether anything says how much the difference may vary, (...)."""
        return np.asarray(self.own_variance + self.test_variance > ROUNDING)

    def is_within(self, tolerance: float, level: float = LEVEL) -> Array:
        """Whether the difference is shown to be smaller than a tolerance, (...)."""
        far = np.abs(self.estimate) + self.half_width(level) + self.rounding
        return np.asarray(self.has_interval & (far < tolerance))

    def is_beyond(self, tolerance: float, level: float = LEVEL) -> Array:
        """Whether the difference is shown to be larger than a tolerance, (...)."""
        near = np.abs(self.estimate) - self.half_width(level) - self.rounding
        return np.asarray(self.has_interval & (near > tolerance))

    def with_seeds(self, seeds: int) -> "Difference":
        """The same, had we run so many seeds, if mean and deviation stayed."""
        ours = self.own_variance * (self.freedom[0] + 1) / seeds
        return replace(self, own_variance=ours, freedom=(seeds - 1, self.freedom[1]))


def measure_difference(values: Array, printed: PrintedValue, test_variance: float = 0.0) -> Difference:
    """Of our values by seed (...,n), at least two."""
    n = values.shape[-1]
    ours = np.asarray(values.var(axis=-1, ddof=1) / n)
    theirs = np.zeros_like(ours) if printed.std is None else np.full_like(ours, printed.std**2 / printed.seeds)
    freedom = (n - 1, printed.seeds - 1 if printed.seeds > 1 else n - 1)
    return Difference(values.mean(axis=-1) - printed.mean, ours, theirs, freedom, test_variance, printed.rounding)


def assume_deviation(difference: Difference, printed_seeds: int) -> Difference:
    """The same if the paper's seeds, of which no deviation is printed, vary three times as much as ours."""
    n = difference.freedom[0] + 1
    theirs = THREEFOLD**2 * difference.own_variance * n / printed_seeds
    # both variances are estimated from our seeds: their sum has our degrees of freedom
    return replace(difference, own_variance=difference.own_variance + theirs, printed_variance=0 * theirs)
