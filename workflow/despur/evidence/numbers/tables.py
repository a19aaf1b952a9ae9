"""Printed numbers beside ours: the long table, and how it is shown (Markdown, LaTeX)."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import at_settings, list_changes
from despur.evidence.numbers.rows import describe_printed, describe_values, keep_sound, refuse_number
from despur.evidence.numbers.sample_noise import sample_variance
from despur.evidence.numbers.settings import find_origin
from despur.evidence.numbers.verdicts import DECIDING, JUDGED_COLUMNS, judge_values, last_digit
from despur.evidence.runs import run_files
from despur.evidence.runs.artifact_metrics import rows_where
from despur.evidence.statistics.equivalence import PrintedValue
from despur.evidence.verdicts import NumberVerdict

ORIGIN = ("settings", "choices", "runs")  # of what is compared
NUMBER_COLUMNS = [
    *("paper_dataset", "method", "setting", "metric", "reported", "reported_std", "reported_seeds"),
    *("ours", "ours_std", "seeds", "by_seed", "collapsed", *JUDGED_COLUMNS, *ORIGIN),
    *("data", "measured", "reason", "note"),
]


TEXTS = ("verdict", *DECIDING, *ORIGIN, "measured", "reason")  # even if empty


def compare(
    reported: pd.DataFrame,
    metrics: pd.DataFrame,
    reported_seeds: int,
    splits: Mapping[str, str] = MappingProxyType({}),
    resamples: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """A row for each printed number and each data set that was used for it; percentages.

    A printed setting that these runs vary (``lambda=0.2``) picks its runs. Reported numbers are compared (difference,
    verdict) only where data and settings are the paper's own. ``splits``: which split a metric is of, where that is
    not "test". ``resamples``: bootstrap values, for what is no share of test samples.
    """
    others, best = list_changes(metrics), metrics[metrics["selection"] == "best"]
    rounding = {metric: last_digit(part["mean"]) for metric, part in reported.groupby("metric")}
    rows: list[dict[str, Any]] = []
    for number in reported.itertuples():
        base = describe_printed(number, reported_seeds)
        of_number = {"paper_dataset": number.dataset, "paper_method": number.method}
        here = rows_where(best, split=splits.get(number.metric, "test"), **of_number)
        mine = at_settings(rows_where(here, group="", metric=number.metric), number.setting)
        for (data, substitute), part in mine.groupby(["data", "substitute"], sort=False):
            changes = others.get((number.dataset, number.method, data), {})
            row = describe_values(part) | {"data": str(data)}
            origin = None if substitute else find_origin(number, part)
            refused = refuse_number(number, str(data), changes, origin)
            sound = 100 * keep_sound(part).to_numpy(float)
            if len(sound) and not refused:
                shares = at_settings(here[(here["group"] == "") | (here["metric"] == "accuracy")], number.setting)
                runs = pd.concat([shares, rows_where(here, metric="samples")])
                noise = sample_variance(number, rows_where(runs, data=data), str(data), resamples)
                std = None if pd.isna(number.std) else float(number.std)
                printed = PrintedValue(number.mean, std, reported_seeds, rounding[number.metric])
                row |= judge_values(sound, printed, noise)
            elif "verdict" not in row:
                row |= refused or {"verdict": NumberVerdict.NOT_COMPARED, "reason": "every seed collapsed"}
            rows.append(base | row | ({} if origin is None else origin.describe()))
        if not len(mine):
            rows.append(base)
    return pd.DataFrame(rows, columns=NUMBER_COLUMNS).astype(dict.fromkeys(TEXTS, object))


def judge_anew(table: pd.DataFrame, row: Any, judged: Mapping[str, Any]) -> None:
    """Write what was ``judged`` into a row of a table of :func:`compare`, in the place of its verdict."""
    table.loc[row, JUDGED_COLUMNS] = None
    table.loc[row, [*judged]] = list(judged.values())


def format_spread(mean: float, std: float, decimals: int = 1) -> str:
    """``77.4 (3.0)``; without a standard deviation, ``77.4``; a dash for nothing."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.{decimals}f}" if pd.isna(std) else f"{mean:.{decimals}f} ({std:.{decimals}f})"


def format_column(values: pd.Series, form: str = "{:.1f}") -> pd.Series:
    """A column of numbers as people read it; a dash for nothing."""
    return values.map(form.format, na_action="ignore").astype(object).fillna("–")


def name_columns(display: pd.DataFrame, names: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """A table with its columns named as people read them; ``names``: of those that are called otherwise."""
    names = {"paper_dataset": "data set", "dataset": "data set", "data": "data used", **names}
    return display.rename(columns=lambda column: names.get(column, column.replace("_", " ")))


def format_digits(value: float, digits: int) -> str:
    """``77.41``, ``23,100``: a number in so many digits; none before the decimal point is rounded away."""
    return f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def format_table(table: pd.DataFrame, form: Callable[[float, float], str] = format_spread) -> pd.DataFrame:
    """The table as people read it: rounded, mean (std), what was run before what was not, one data set after the other.
    Rows that say nothing, neither a number nor why there is none, are left out."""
    reasons = describe_reasons(table)
    table = table[table["reported"].notna() | table["ours"].notna() | reasons.ne("")]
    table = table.iloc[np.lexsort((pd.factorize(table["paper_dataset"])[0], table["seeds"] == 0))]

    def sign(value: float) -> str:
        return ("+" if value >= 0 else "-") + form(abs(value), math.nan)

    intervals = zip(table["low"], table["high"], strict=True)
    display = pd.DataFrame(
        {
            "data set": table["paper_dataset"],
            "method": table["method"].fillna("–"),
            "printed setting": table["setting"].fillna("").astype(str),
            "metric": table["metric"].str.replace("_", " "),
            "reported": [form(*pair) for pair in zip(table["reported"], table["reported_std"], strict=True)],
            "ours": [form(*pair) for pair in zip(table["ours"], table["ours_std"], strict=True)],
            "difference": ["" if pd.isna(value) else sign(value) for value in table["difference"]],
            "95 % interval": ["" if pd.isna(low) else f"{sign(low)} to {sign(high)}" for low, high in intervals],
            "seeds": table["seeds"].astype(str),
            "data used": table["data"].fillna("–"),
            "measured": table["measured"].fillna("–").replace("", "–"),
            "verdict": table["verdict"],
            "reason": reasons[table.index],
        }
    )
    if not display["reason"].any():
        display = display.drop(columns="reason")
    if set(display["measured"]) <= {run_files.HERE, "–"}:
        display = display.drop(columns="measured")
    varies = table.groupby(["paper_dataset", "method", "metric"], dropna=False)["setting"].nunique().max() > 1
    return display if varies else display.drop(columns="printed setting")


def describe_reasons(table: pd.DataFrame) -> pd.Series:
    """Why each number is not compared or not run, and how many seeds collapsed; empty where there is nothing to say."""
    pairs = zip(table["reason"].fillna(""), table["collapsed"].fillna(""), strict=True)
    return pd.Series(["; ".join(filter(None, pair)) for pair in pairs], table.index, dtype=object)
