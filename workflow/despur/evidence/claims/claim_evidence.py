"""What a row of claims says of its contrasts."""

from typing import Any

import numpy as np

from despur.evidence.statistics.contrasts import INTERVAL, Contrast, Group, contrasts_of, find_p_values


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
