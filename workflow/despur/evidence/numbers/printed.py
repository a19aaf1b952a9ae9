"""Compares the settings of a printed number, ``p_corr=0.995;lambda=0.2``, with those of the run."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.verdicts import NumberVerdict
from despur.specs.declarations import read_declarations
from despur.specs.names import parse
from despur.specs.resolution import resolve
from despur.specs.settings import spell

REPORTED_COLUMNS = ["dataset", "method", "setting", "metric", "mean", "std", "unit", "formula", "note", "table"]


def read_reported(folder: Path) -> pd.DataFrame:
    """Every number that a paper prints (reported/*.csv), not its hyper-parameters, nor what is lost in print.
    ``table``: the name of its file."""
    files = ((file.stem, pd.read_csv(file, dtype={"setting": str})) for file in sorted(folder.glob("*.csv")))
    tables = [numbers.assign(table=name) for name, numbers in files if "metric" in numbers]
    if not tables:
        return pd.DataFrame(columns=REPORTED_COLUMNS)
    table = pd.concat(tables, ignore_index=True)
    return table[~table["metric"].str.startswith("hyperparameter") & table["mean"].notna()].reset_index(drop=True)


def parse_settings(text: Any) -> dict[str, str]:
    """``p_corr=0.995;lambda=0.2`` as a mapping; empty text as none."""
    pairs = (item.split("=", 1) for item in str(text).split(";") if "=" in item)
    return {key.strip(): value.strip() for key, value in pairs}


def at_settings(rows: pd.DataFrame, printed: Any) -> pd.DataFrame:
    """The rows at the printed values of settings: those that they vary (columns ``lambda``, ``data.p_corr``), and
    their method's own."""
    for key, value in parse_settings(printed).items():
        columns = [c for c in (key, f"data.{key}") if c in rows and rows[c].notna().any()]
        if columns:
            rows = rows[rows[columns[0]].map(lambda measured, value=value: is_same(measured, value))]
        elif len(rows):
            runs = zip(rows["method"], rows["data"], strict=True)
            rows = rows[[has_setting_value(*run, key, value) for run in runs]]
    return rows


@cache
def has_setting_value(method: str, data: str, key: str, value: str) -> bool:
    """Whether a method has a setting at this value; true for what is no setting of it."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    return key not in point.settings or is_same(spell(point.settings[key]), value)


def is_same(measured: Any, printed: Any) -> bool:
    """Whether two spellings are of one value."""
    try:
        return float(measured) == float(printed)
    except ValueError:
        return str(measured) == str(printed)


def has_same_settings(printed: Any, data: str) -> bool:
    """Whether every point of a data set has the settings that identify a printed number (``p_corr=0.995``)."""
    sweep = resolve("datasets", data)
    settings = read_declarations("datasets", sweep.base_name)["SETTINGS"]
    wanted = {key: settings[key].parse(key, value) for key, value in parse_settings(printed).items() if key in settings}
    return all(wanted.items() <= point.settings.items() for point in sweep.points)


def explain_not_compared(printed: Any, data: str, substitute: bool, changes: Mapping[str, str]) -> dict[str, str]:
    """Verdict and reason of runs that are not at the data and settings of a printed number. Empty for the paper's own
    data and settings."""
    if substitute:
        return {"verdict": NumberVerdict.SUBSTITUTE}
    others = ", ".join(f"{key}={value}" for key, value in sorted(changes.items()) if key not in parse_settings(printed))
    if others or not has_same_settings(printed, data):
        return {"verdict": NumberVerdict.OTHER_SETTINGS, "reason": others or "those of the data"}
    return {}


def list_changes(metrics: pd.DataFrame) -> dict[tuple[Any, ...], dict[str, str]]:
    """The changed settings of all runs, by data set of the paper, printed method and data. They also hold for metrics
    that are derived from these runs (a gap)."""
    keys = ["paper_dataset", "paper_method", "data"]
    if "changed" not in metrics:
        return {}
    changed_rows = metrics[[*keys, "changed"]].dropna().drop_duplicates()
    return {key: parse_settings(";".join(group["changed"])) for key, group in changed_rows.groupby(keys)}


def weighted_averages(table: pd.DataFrame, is_weighted: pd.Series) -> pd.DataFrame:
    """Rows of metrics with the average that weights groups by their training sizes in the place of the plain one,
    where ``is_weighted`` is true: some papers print that one."""
    kept = table[~(is_weighted & (table["metric"] == "average_accuracy"))]
    weighted = kept["metric"].replace("weighted_average_accuracy", "average_accuracy")
    return kept.assign(metric=kept["metric"].mask(is_weighted, weighted))
