"""How far is a measured number from the printed one: within 2, within 5, beyond 5, or not known?

Tolerances are points of percentages; of all other units (counts, ratios, hours, values), percent of the printed number.
The whole interval of the difference decides (despur/evidence/statistics/equivalence.py); so few or noisy seeds are
*not known*, and never agree. What does not vary, here nor in print (a worst group that is never right), has no
interval: like a count, it is as printed where it is equal to the last digit, else not as printed. Where no deviation is
printed, the question is whether our mean equals the printed number, taken as fixed. ``if_normal`` is the verdict of the
90 % interval, ``threefold`` is the verdict if the paper's seeds vary three times as much as ours."""

import math
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.statistics.contrasts import INTERVAL, LEVEL, MANY_SEEDS, SEEDS
from despur.evidence.statistics.equivalence import Difference, PrintedValue, assume_deviation, measure_difference
from despur.evidence.statistics.multiplicity import find_p_value
from despur.evidence.verdicts import NumberVerdict
from despur.storage.store import Array

TOLERANCES = (2.0, 5.0)
# units in which a tolerance is in points; of others, percent of the printed number
POINTS = ("percent", "pp", "fraction")
NORMAL = 0.05  # one-sided: of the 90 % interval, by which verdicts are wrong in 5 % if seeds are normal
P_VALUES = {  # of the statements that a verdict may make: their column
    NumberVerdict.WITHIN_2: "p_within_2",
    NumberVerdict.WITHIN_5: "p_within_5",
    NumberVerdict.BEYOND_5: "p_beyond_5",
}
DECIDING = ("would_decide", "if_normal", "threefold")  # what else judging says in words
JUDGED_COLUMNS = ["difference", "low", "high", "verdict", *DECIDING, *P_VALUES.values()]  # what it adds to a row


def judge_values(
    values: Array, printed: PrintedValue, test_variance: float = 0.0, unit: str = "percent"
) -> dict[str, Any]:
    """JUDGED_COLUMNS of a row: our values by seed (n,), without those that collapsed, against a printed number of the
    same unit. ``test_variance``: of the difference, by test samples, squared; NaN: not known. ``low``, ``high``: the
    95 % interval of the difference."""
    row: dict[str, Any] = {"difference": float(np.mean(values)) - printed.mean if len(values) else math.nan}
    if len(values) < SEEDS:
        return row | {"verdict": NumberVerdict.NOT_KNOWN, "would_decide": f"at least {SEEDS} seeds"}
    if math.isnan(test_variance):
        return row | {"verdict": NumberVerdict.NOT_KNOWN, "would_decide": "how much the test data vary"}
    scale = find_scale(printed.mean, unit)
    difference = measure_difference(values * scale, printed.scale(scale), test_variance * scale**2)
    if not difference.has_interval and printed.std == 0:
        return judge_count(float(np.mean(values)), printed.mean, printed.rounding)
    half = float(difference.half_width(INTERVAL)) / scale
    row |= {"low": row["difference"] - half, "high": row["difference"] + half}
    row |= {"verdict": decide(difference), "would_decide": what_would_decide(difference)} | find_p_values(difference)
    row["if_normal"] = decide(difference, NORMAL)
    return row | {"threefold": decide(assume_deviation(difference, printed.seeds)) if printed.std is None else ""}


def judge_logarithms(
    logs: Array, printed: float, printed_seeds: int, test_variance: float, rounding: float
) -> dict[str, Any]:
    """The same of a ratio: logarithms by seed against that of a printed ratio without a deviation. ``test_variance``:
    of the logarithm; ``rounding``: of the ratio."""
    as_log = PrintedValue(100 * math.log(printed), None, printed_seeds, 100 * math.log1p(rounding / printed))
    row = judge_values(100 * logs, as_log, 1e4 * test_variance)
    row["difference"] = printed * math.expm1(row["difference"] / 100)
    return row | {end: printed * math.expm1(row[end] / 100) for end in ("low", "high") if end in row}


def judge_count(ours: float, printed: float, rounding: float) -> dict[str, Any]:
    """JUDGED_COLUMNS of a row of what is counted and has no noise: the printed number is ours to its last digit."""
    same = abs(ours - printed) <= rounding + 1e-9
    return {"difference": ours - printed, "verdict": NumberVerdict.AS_PRINTED if same else NumberVerdict.NOT_AS_PRINTED}


def find_scale(printed: float, unit: str) -> float:
    """What makes a tolerance's unit of a number's."""
    if unit == "fraction":
        return 100.0
    return 1.0 if unit in POINTS or not printed else 100.0 / abs(printed)


def decide(difference: Difference, level: float = LEVEL) -> NumberVerdict:
    """The verdict on a single difference."""
    small, large = TOLERANCES
    if difference.is_within(small, level):
        return NumberVerdict.WITHIN_2
    if difference.is_within(large, level):
        return NumberVerdict.WITHIN_5
    return NumberVerdict.BEYOND_5 if difference.is_beyond(large, level) else NumberVerdict.NOT_KNOWN


def find_p_values(difference: Difference) -> dict[str, float]:
    """Of the three statements that a verdict may make."""
    small, large = TOLERANCES
    shown = {
        NumberVerdict.WITHIN_2: partial(difference.is_within, small),
        NumberVerdict.WITHIN_5: partial(difference.is_within, large),
        NumberVerdict.BEYOND_5: partial(difference.is_beyond, large),
    }
    return {P_VALUES[verdict]: find_p_value(is_shown) for verdict, is_shown in shown.items()}


def what_would_decide(difference: Difference) -> str:
    """What would decide a difference that is not known, if mean and deviation stayed; empty where it is decided."""
    if decide(difference) != NumberVerdict.NOT_KNOWN:
        return ""
    if not difference.has_interval:
        return "nothing: all seeds are equal, so that they do not say how much they vary"
    n = difference.freedom[0] + 1
    for more in range(n + 1, MANY_SEEDS + 1):
        if decide(difference.with_seeds(more)) != NumberVerdict.NOT_KNOWN:
            return f"about {more} seeds of ours"
    endless = difference.with_seeds(100 * MANY_SEEDS)
    if float(endless.half_width(LEVEL)) + difference.rounding >= TOLERANCES[1]:
        return "nothing: the paper's own seeds, or the test data, vary too much"
    return f"more than {MANY_SEEDS} seeds of ours: the difference is close to {TOLERANCES[1]:g}"


def share_variance(share: float, samples: float) -> float:
    """Of a share of so many test samples; of a share of 0 or 1, that of (x + 1) / (n + 2). NaN for what is no share."""
    if not 0 <= share <= 1:
        return math.nan
    if share in (0.0, 1.0):
        share = (share * samples + 1) / (samples + 2)
    return share * (1 - share) / samples


def last_digit(printed: pd.Series) -> float:
    """Half a unit of the last digit of printed numbers, which have the same number of decimals: that of the longest."""
    texts = [f"{value:.6f}".rstrip("0") for value in printed.dropna()]
    return 0.5 * 10.0 ** -max((len(text.partition(".")[2]) for text in texts), default=0)
