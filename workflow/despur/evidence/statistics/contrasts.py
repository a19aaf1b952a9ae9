"""Contrasts and what they decide: statistics alone, no files.

A contrast is an estimate that is paired by seed: a difference of methods, a change with a setting. Its half-width at
a one-sided level is sqrt(t^2 V_seeds + z^2 V_test): t of Student with n - 1 degrees of freedom, V_seeds the variance
of the mean of the n differences by seed, V_test the mean covariance of bootstrap values (of test originals) between
different seeds, at least 0. So what varies by seed counts once, and what all seeds share, the test data, counts too.
A rank correlation's is at least what its points alone allow (despur/evidence/statistics/rank_correlations.py). Fewer
than three seeds decide nothing. Nor do equal values from all seeds where the noise of test data is not known: there is
no interval.

A statement is a contrast or a group of statements. All of k: it holds if every lower bound at LEVEL exceeds its
margin, and fails if some upper bound at LEVEL / k^2 lies below its margin. At least m of k: it holds if m lower bounds
at LEVEL / k^2 exceed their margins, and fails if k - m + 1 upper bounds at LEVEL / k^2 lie below theirs. (Where seeds
are skewed, errors fall as the root of a level, so that LEVEL / k would not do.) Groups nest: a part of a group is
decided at the level that the rule gives it.

All arrays may have leading dimensions ``...``, which are decided one by one (simulations use them).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from despur.evidence.statistics.multiplicity import LEVEL as LEVEL
from despur.evidence.statistics.multiplicity import find_p_value
from despur.evidence.statistics.rank_correlations import least_half_width
from despur.storage.store import Array

# One-sided, of intervals that are shown (95 %). Decisions take LEVEL (despur/evidence/statistics/multiplicity.py), so
# that they are wrong in at most 5 % even where seeds are skewed as an exponential (docs/error_rates.md).
INTERVAL = 0.025
SEEDS = 3  # fewer decide nothing
MANY_SEEDS = 100  # more than this are no advice
HOLDS, FAILS, UNDECIDED = 1, -1, 0
ROUNDING = 1e-18  # squared: what rounding alone may make of equal values


@dataclass(frozen=True)
class Contrast:
    """An estimate that is paired by seed, and the margin that it should exceed.

    ``by_seed`` (...,n): its value from each seed. ``resampled`` (...,n,B): the same on B bootstrap samples of the
    test originals; (...,n,0) where no test data enters. ``counted``: the same from every seed because it is counted
    (parameters), so that its value is exact. ``points``: of a rank correlation, given as Fisher's z, how many
    independent points it is over; else 0.
    """

    by_seed: Array
    resampled: Array
    margin: float = 0.0
    counted: bool = False
    label: str = ""
    points: int = 0

    @property
    def seeds(self) -> int:
        return self.by_seed.shape[-1]

    @property
    def estimate(self) -> Array:
        """The mean over seeds, (...)."""
        return np.asarray(self.by_seed.mean(axis=-1))

    @property
    def has_test_data(self) -> bool:
        return self.resampled.shape[-1] > 0

    @property
    def seed_variance(self) -> Array:
        """V_seeds, the variance of the mean over seeds, (...); NaN from one seed, 0 for what is counted."""
        if self.counted or self.seeds < 2:
            return np.full(self.by_seed.shape[:-1], 0.0 if self.counted else np.nan)
        return np.asarray(self.by_seed.var(axis=-1, ddof=1) / self.seeds)

    @property
    def test_variance(self) -> Array:
        """V_test, the mean covariance of bootstrap values between different seeds, at least 0, (...); 0 where no test
        data enters."""
        n = self.seeds
        if self.counted or not self.has_test_data or n < 2:
            return np.zeros(self.by_seed.shape[:-1])
        of_mean, of_seeds = self.resampled.mean(axis=-2).var(axis=-1, ddof=1), self.resampled.var(axis=-1, ddof=1)
        return np.maximum((n**2 * of_mean - of_seeds.sum(axis=-1)) / (n * (n - 1)), 0.0)

    def half_width(self, level: float = LEVEL) -> Array:
        """What a one-sided bound at a level is away from the estimate, (...); NaN from one seed."""
        t, z = stats.t.isf(level, max(self.seeds - 1, 1)), stats.norm.isf(level)
        half = np.sqrt(t**2 * self.seed_variance + z**2 * self.test_variance)
        return np.maximum(half, least_half_width(self.points, level)) if self.points else half

    def holds(self, level: float = LEVEL) -> Array:
        """Whether the lower bound exceeds the margin, (...)."""
        return self.decides & self.has_interval & (self.estimate - self.half_width(level) > self.margin)

    def fails(self, level: float = LEVEL) -> Array:
        """Whether the upper bound lies below the margin, (...)."""
        return self.decides & self.has_interval & (self.estimate + self.half_width(level) < self.margin)

    @property
    def decides(self) -> bool:
        return self.counted or self.seeds >= SEEDS

    @property
    def has_interval(self) -> Array:
        """Whether seeds, test data or points say how much the estimate may vary, (...)."""
        is_varied = self.counted or self.points > 0
        return np.asarray(is_varied | (self.seed_variance + self.test_variance > ROUNDING))


@dataclass(frozen=True)
class Group:
    """Several statements, of which all or ``at_least`` so many should be true."""

    parts: Sequence[Contrast | Group]
    at_least: int | None = None

    def needed(self, level: float) -> tuple[int, float, int, float]:
        """How many statements must hold for the group to hold, and at which level; how many must fail for it to fail,
        and at which level."""
        k = len(self.parts)
        if self.at_least is None:
            return k, level, 1, level / k**2
        return self.at_least, level / k**2, k - self.at_least + 1, level / k**2

    def holds(self, level: float = LEVEL) -> Array:
        """Whether the group is shown to be true at a one-sided level, (...)."""
        count, part_level, _, _ = self.needed(level)
        return np.sum([part.holds(part_level) for part in self.parts], axis=0) >= count

    def fails(self, level: float = LEVEL) -> Array:
        """Whether the group is shown to be false at a one-sided level, (...)."""
        _, _, count, part_level = self.needed(level)
        return np.sum([part.fails(part_level) for part in self.parts], axis=0) >= count


Statement = Contrast | Group


def decide(statement: Statement, level: float = LEVEL) -> Array:
    """HOLDS, FAILS or UNDECIDED, (...)."""
    return np.where(statement.holds(level), HOLDS, np.where(statement.fails(level), FAILS, UNDECIDED))


def find_p_values(statement: Statement) -> tuple[float, float]:
    """That a statement is not true, and that it is not false: the smallest levels at which it holds, and fails."""
    return find_p_value(statement.holds), find_p_value(statement.fails)


def contrasts_of(statement: Statement) -> Iterator[Contrast]:
    """Every contrast of a statement, in order."""
    if isinstance(statement, Contrast):
        yield statement
    else:
        for part in statement.parts:
            yield from contrasts_of(part)


def is_met(statement: Statement) -> bool:
    """Whether the estimates alone agree with a statement. Estimates at their margins do: printed numbers are
    rounded."""
    if isinstance(statement, Contrast):
        return bool(statement.estimate >= statement.margin - 1e-9)
    met = sum(map(is_met, statement.parts))
    return met >= (len(statement.parts) if statement.at_least is None else statement.at_least)
