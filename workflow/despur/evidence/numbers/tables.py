"""Printed numbers beside ours: the long table, and how it is shown (Markdown, LaTeX)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import at_settings, explain_not_compared, list_changes
from despur.evidence.numbers.sample_noise import sample_variance
from despur.evidence.numbers.verdicts import (
    NOT_RUN,
    UNDECIDED,
    judge_number,
    last_digit,
    smallest_visible,
)
from despur.evidence.runs import run_files
from despur.evidence.statistics.contrasts import SEEDS

COLUMNS = [
    "paper_dataset",
    "method",
    "setting",
    "metric",
    "reported",
    "reported_std",
    "ours",
    "ours_std",
    "difference",
    "smallest_visible",
    "seeds",
    "data",
    "measured",
    "verdict",
    "note",
]


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
        base: dict[str, Any] = {key: getattr(number, key) for key in ("method", "setting", "metric", "note")}
        base |= {"paper_dataset": number.dataset, "reported": number.mean, "reported_std": number.std}
        here = best[(best["split"] == splits.get(number.metric, "test")) & (best["paper_dataset"] == number.dataset)]
        here = here[here["paper_method"] == number.method]
        mine = at_settings(here[(here["group"] == "") & (here["metric"] == number.metric)], number.setting)
        for (data, substitute), part in mine.groupby(["data", "substitute"], sort=False):
            refused = explain_not_compared(
                number.setting, str(data), bool(substitute), others.get((number.dataset, number.method, data), {})
            )
            row = _ours(number, part["value"], str(data), refused) | {"measured": name_sources(part)}
            if "verdict" not in row:
                shares = at_settings(here[(here["group"] == "") | (here["metric"] == "accuracy")], number.setting)
                runs = pd.concat([shares, here[here["metric"] == "samples"]])
                noise = sample_variance(number, runs[runs["data"] == data], str(data), resamples)
                std = None if pd.isna(number.std) else float(number.std)
                visible = smallest_visible(
                    std, reported_seeds, row["ours_std"], row["seeds"], noise, rounding[number.metric]
                )
                row |= {"smallest_visible": visible, "verdict": judge_number(row["difference"], visible)}
            rows.append(base | row)
        if not len(mine):
            rows.append(base | {"seeds": 0, "verdict": NOT_RUN})
    return pd.DataFrame(rows, columns=COLUMNS)


def name_sources(rows: pd.DataFrame) -> str:
    """Where rows were measured: on this machine, or by which commit on which other."""
    return "; ".join(sorted(set(rows["measured"].dropna()))) if "measured" in rows else ""


def _ours(number: Any, values: pd.Series, data: str, refused: str) -> dict[str, Any]:
    """Our mean and deviation over seeds, and the verdict where they decide nothing."""
    seeds = int(values.count())
    if not seeds:
        return {"seeds": 0, "data": data, "verdict": "not applicable"}
    row: dict[str, Any] = {"ours": 100 * values.mean(), "ours_std": 100 * values.std(), "seeds": seeds, "data": data}
    if pd.isna(number.mean):
        return row | {"verdict": "nothing printed"}
    if refused:
        return row | {"verdict": refused}
    row["difference"] = row["ours"] - number.mean
    return row if seeds >= SEEDS else row | {"verdict": UNDECIDED}


def format_spread(mean: float, std: float) -> str:
    """``77.4 (3.0)``; without a standard deviation, ``77.4``; a dash for nothing."""
    if pd.isna(mean):
        return "–"
    return f"{mean:.1f}" if pd.isna(std) else f"{mean:.1f} ({std:.1f})"


def format_table(table: pd.DataFrame, form: Callable[[float, float], str] = format_spread) -> pd.DataFrame:
    """The table as people read it: rounded, mean (std), what was run before what was not."""
    table = table.sort_values("seeds", key=lambda seeds: seeds == 0, kind="stable")
    display = pd.DataFrame(
        {
            "data set": table["paper_dataset"],
            "method": table["method"].fillna("–"),
            "setting": table["setting"].fillna("").astype(str),
            "metric": table["metric"].str.replace("_", " "),
            "reported": [form(*pair) for pair in zip(table["reported"], table["reported_std"], strict=True)],
            "ours": [form(*pair) for pair in zip(table["ours"], table["ours_std"], strict=True)],
            "difference": ["" if pd.isna(d) else f"{d:+.1f}" for d in table["difference"]],
            "smallest visible": [
                "" if pd.isna(d) else f"{d:.1f}" for d in table.get("smallest_visible", pd.Series(np.nan, table.index))
            ],
            "seeds": table["seeds"].astype(str),
            "data used": table["data"].fillna("–"),
            "measured": table.get("measured", pd.Series(np.nan, table.index)).fillna("–").replace("", "–"),
            "verdict": table["verdict"],
        }
    )
    if set(display["measured"]) <= {run_files.HERE, "–"}:
        display = display.drop(columns="measured")
    varies = table.groupby(["paper_dataset", "method", "metric"], dropna=False)["setting"].nunique().max() > 1
    return display if varies else display.drop(columns="setting")


def to_markdown(table: pd.DataFrame) -> str:
    lines = [table.columns.tolist(), ["---"] * len(table.columns), *table.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"
