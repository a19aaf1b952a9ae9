"""What would settle a claim: from the variances of its contrasts (evidence/statistics/contrasts.py), in words."""

import math

import numpy as np
from scipy import stats

from despur.evidence.statistics.contrasts import LEVEL, MANY_SEEDS, SEEDS, Contrast, Statement, contrasts_of
from despur.evidence.statistics.rank_correlations import least_half_width


def seeds_needed(statement: Statement, true: bool, level: float = LEVEL) -> float:
    """About how many seeds show a statement to be true (or false), if estimates and variances stay as they are; inf for
    no number."""
    if isinstance(statement, Contrast):
        gap = float(statement.estimate - statement.margin) * (1 if true else -1)
        return _seeds_for(gap, statement, level)
    holding, level_true, failing, level_false = statement.needed(level)
    part_seeds = sorted(seeds_needed(part, true, level_true if true else level_false) for part in statement.parts)
    return part_seeds[(holding if true else failing) - 1]


def _seeds_for(gap: float, contrast: Contrast, level: float) -> float:
    """How many seeds bring the half-width below a gap; inf where no number does."""
    of_one, of_test = float(contrast.seed_variance) * contrast.seeds, float(contrast.test_variance)
    left = gap**2 - float(stats.norm.isf(level)) ** 2 * of_test
    if gap <= 0 or left <= 0 or not math.isfinite(of_one) or is_too_weak(gap, contrast, level):
        return math.inf
    numbers = np.arange(SEEDS, 10 * MANY_SEEDS)
    enough = stats.t.isf(level, numbers - 1) ** 2 * of_one / numbers < left
    return float(numbers[enough.argmax()]) if enough.any() else 10.0 * MANY_SEEDS


def is_too_weak(gap: float, contrast: Contrast, level: float = LEVEL) -> bool:
    """Whether a rank correlation's distance from its margin could be chance over so few points, however many seeds."""
    return bool(contrast.points) and abs(gap) <= least_half_width(contrast.points, level)


def what_would_settle(statement: Statement, test_originals: int | None = None) -> str:
    """Advice on an undecided statement, from its variances. ``test_originals``: how many there are, where that is
    known."""
    contrasts = list(contrasts_of(statement))
    now = min(contrast.seeds for contrast in contrasts)
    if now < SEEDS:
        return f"at least {SEEDS} seeds"
    needed = min(seeds_needed(statement, true) for true in (True, False))
    if needed <= MANY_SEEDS:
        return f"about {max(int(needed), now + 1)} seeds"
    if math.isfinite(needed):
        return f"more than {MANY_SEEDS} seeds: the estimate is close to its margin"
    weak = [contrast for contrast in contrasts if is_too_weak(float(contrast.estimate) - contrast.margin, contrast)]
    if weak:
        return f"more seeds cannot settle it: {weak[0].points} points are too few for a correlation so weak"
    if any(contrast.has_test_data for contrast in contrasts):
        tests = "the test data are" if test_originals is None else f"{test_originals:,} test originals are"
        return f"more seeds cannot settle it: {tests} too few for an estimate so close to its margin"
    return "more seeds cannot settle it: the estimate is at its margin"
