"""Does a reproduced number agree with the printed one, and how many do?"""

import math

import pandas as pd
from scipy import stats

from despur.evidence.statistics.contrasts import SEEDS

NOT_RUN = "not run here"
TOO_NOISY = "too noisy"
UNDECIDED = f"fewer than {SEEDS} seeds: undecided"
LEVEL = 0.025  # on either side
VISIBLE = 5.0  # points: runs that would not show a difference of so many do not agree, they are too noisy
# How a number counts that is measured on several data sets: the first kind that any of them has.
KINDS = ("differs", TOO_NOISY, "agrees", "undecided", "substitute data", "not compared", NOT_RUN)
COMPARED = ("agrees", "differs", TOO_NOISY)
# What tells printed numbers apart.
NUMBER = ("paper", "place", "artifact", "paper_dataset", "method", "setting", "metric")


def smallest_visible(
    reported_std: float | None,
    reported_seeds: int,
    ours_std: float,
    seeds: int,
    test_variance: float = 0.0,
    rounding: float = 0.0,
) -> float:
    """The smallest difference of two means over seeds that would have been seen, in their unit: by Welch's t test,
    two-sided at 5 %.

    ``reported_std``: None where it is not printed; then ours counts for both, with our degrees of freedom. An unknown
    number of seeds is 1. ``test_variance``: of the difference, by the test samples. ``rounding``: half a unit of the
    last digit that is printed.
    """
    ours = ours_std**2 / seeds
    if reported_std is None:
        of_seeds, freedom = ours + ours_std**2 / reported_seeds, float(seeds - 1)
    else:
        theirs, their_freedom = (
            reported_std**2 / reported_seeds,
            reported_seeds - 1 if reported_seeds > 1 else seeds - 1,
        )
        of_seeds = ours + theirs
        spread = ours**2 / (seeds - 1) + theirs**2 / their_freedom
        freedom = of_seeds**2 / spread if spread > 0 else float(seeds - 1)
    return (
        math.sqrt(stats.t.isf(LEVEL, freedom) ** 2 * of_seeds + stats.norm.isf(LEVEL) ** 2 * test_variance) + rounding
    )


def judge_number(difference: float, visible: float) -> str:
    """agrees, differs or too noisy: a difference in percentage points, beside the smallest that would have been seen;
    undecided where that is NaN."""
    if math.isnan(visible):
        return "noise of test data not known: undecided"
    if abs(difference) > visible + 1e-9:
        return "differs"
    return TOO_NOISY if visible > VISIBLE else "agrees"


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


def classify_verdict(verdict: str) -> str:
    """The kind of a verdict: agrees, differs, too noisy, undecided (few seeds), substitute data, not compared (other
    settings), not run here."""
    if verdict in COMPARED:
        return verdict
    return next((words for words in ("undecided", "substitute data", NOT_RUN) if words in verdict), "not compared")


def count_numbers(table: pd.DataFrame) -> dict[str, int]:
    """How many printed numbers are of each kind, of rows of tables or of a scorecard. A number that several runs
    measure counts once; where any of them differs, it differs."""
    kinds = table["verdict"].map(classify_verdict)
    each = kinds.groupby([table[key] for key in NUMBER if key in table], dropna=False).agg(
        lambda found: min(found, key=KINDS.index)
    )
    return {name: int((each == name).sum()) for name in KINDS}


def differences_by_chance(found: dict[str, int]) -> float:
    """How many of the compared numbers would differ by chance alone, on average, if all runs were as the papers'.
    ``found``: by kind."""
    return 2 * LEVEL * sum(found[name] for name in COMPARED)


def summarize_verdicts(table: pd.DataFrame) -> str:
    """One line on a comparison: how many printed numbers agree, differ, ...; nothing of a table without printed
    numbers."""
    if not {"reported", "verdict"} <= set(table) or not (shown := table[table["reported"].notna()]).shape[0]:
        return ""
    found = count_numbers(shown)
    words = {
        "agrees": "agree",
        "differs": "differ",
        "undecided": f"undecided (fewer than {SEEDS} seeds)",
        "substitute data": "on substitute data",
    }
    always = ("agrees", "differs", "substitute data", NOT_RUN)
    order = ("agrees", "differs", TOO_NOISY, "undecided", "substitute data", "not compared", NOT_RUN)
    parts = [f"{found[name]} {words.get(name, name)}" for name in order if found[name] or name in always]
    chance = (
        f" Chance alone would make about {differences_by_chance(found):.1g} differ."
        if any(found[name] for name in COMPARED)
        else ""
    )
    return f"{sum(found.values())} printed numbers: {', '.join(parts)}.{chance}"
