"""Rows of tables for single printed numbers: their columns, the comparison of statistics of the data, their format."""

from typing import Any

from despur.evidence.numbers.verdicts import judge_count
from despur.evidence.verdicts import NumberVerdict


def printed_row(number: Any) -> dict[str, Any]:
    """The columns of a printed number that was not run."""
    return {
        "paper_dataset": number.dataset,
        "method": number.method,
        "setting": number.setting,
        "metric": number.metric,
        "reported": number.mean,
        "reported_std": number.std,
        "note": number.note,
        "seeds": 0,
        "verdict": NumberVerdict.NOT_RUN,
    }


def compare_statistic(ours: float, printed: float, decimals: int, substitute: bool) -> dict[str, Any]:
    """Difference and verdict of a statistic of the data: it is as printed within half a unit of the
    last digit."""
    if substitute:
        return {"verdict": NumberVerdict.SUBSTITUTE}
    return judge_count(ours, printed, 0.5 * 10**-decimals)
