"""What a row of claims says of its contrasts, and, from their variances, what would settle it, in words."""

import math
from typing import Any

import numpy as np
from scipy import stats

from despur.evidence.statistics.contrasts import (
    INTERVAL,
    LEVEL,
    MANY_SEEDS,
    SEEDS,
    Contrast,
    Group,
    Statement,
    contrasts_of,
    find_p_values,
)
from despur.evidence.statistics.rank_correlations import least_half_width


def summarize(statement: Group) -> dict[str, Any]:
    """What a row says of a claim's contrasts: the weakest, which is nearest above its margin in half-widths, or
    furthest below it; and the list of all."""
    contrasts = list(contrasts_of(statement))
    k = len(contrasts)
    weakest = min(contrasts, key=measure_distance)
    low, high = find_bounds(weakest)
    p_holds, p_fails = find_p_values(statement)
    return {
        "k": k,
        "needed": k if statement.at_least is None else f"{statement.at_least} of {len(statement.parts)}",
        "estimate": float(weakest.estimate),
        "low": low,
        "high": high,
        "margin": weakest.margin,
        "seeds": weakest.seeds,
        "p_holds": p_holds,
        "p_fails": p_fails,
        "weakest": weakest.label,
        "contrasts": "; ".join(map(describe_contrast, contrasts)),
    }


def measure_distance(contrast: Contrast) -> float:
    """How far a contrast is above its margin, in half-widths."""
    width = float(np.nan_to_num(contrast.half_width()))
    return float(contrast.estimate - contrast.margin) / max(width, 1e-12)


def find_bounds(contrast: Contrast) -> tuple[float, float]:
    """The ends of the 95 % interval."""
    width = float(contrast.half_width(INTERVAL))
    return float(contrast.estimate) - width, float(contrast.estimate) + width


def describe_contrast(contrast: Contrast) -> str:
    """``cnc - erm: +0.12 [+0.05, +0.19]``."""
    return f"{contrast.label}: {format_estimate(float(contrast.estimate), *find_bounds(contrast))}"


def format_estimate(*values: float) -> str:
    """``+0.12 [+0.05, +0.19]``: an estimate and its interval; what floats alone make is zero."""
    estimate, low, high = (f"{value if abs(value) > 1e-12 else 0.0:+.3g}" for value in values)
    return f"{estimate} [{low}, {high}]"


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
    needed, verdict = min((seeds_needed(statement, verdict == "hold"), verdict) for verdict in ("hold", "fail"))
    if needed <= MANY_SEEDS:
        return f"about {max(int(needed), now + 1)} seeds; then it would {verdict}"
    if math.isfinite(needed):
        return f"more than {MANY_SEEDS} seeds: the estimate is close to its margin"
    weak = [contrast for contrast in contrasts if is_too_weak(float(contrast.estimate) - contrast.margin, contrast)]
    if weak:
        return f"more seeds cannot settle it: over {weak[0].points} points such a rank correlation may be chance"
    if any(contrast.has_test_data for contrast in contrasts):
        tests = "the test data are" if test_originals is None else f"{test_originals:,} test originals are"
        return f"more seeds cannot settle it: {tests} too few for an estimate so close to its margin"
    return "more seeds cannot settle it: the estimate is at its margin"
