"""The settings that a printed number stands for, ``p_corr=0.995;lambda=0.2``, against those of what was run."""

from functools import cache
from typing import Any

import pandas as pd

from despur.settings import spell
from despur.spec import declared, parse, resolve


def printed_settings(text: Any) -> dict[str, str]:
    """``p_corr=0.995;lambda=0.2`` as a mapping; an empty cell as none."""
    return {key.strip(): value.strip() for key, _, value in (item.partition("=") for item in str(text).split(";") if "=" in item)}


def at_settings(rows: pd.DataFrame, printed: Any) -> pd.DataFrame:
    """The rows at the printed values of settings: those that they vary (columns ``lambda``, ``data.p_corr``), and their method's own."""
    for key, value in printed_settings(printed).items():
        columns = [c for c in (key, f"data.{key}") if c in rows and rows[c].notna().any()]
        if columns:
            rows = rows[rows[columns[0]].map(lambda own, value=value: same(own, value))]
        elif len(rows):
            rows = rows[[_has(method, data, key, value) for method, data in zip(rows["method"], rows["data"], strict=True)]]
    return rows


@cache
def _has(method: str, data: str, key: str, value: str) -> bool:
    """Whether a method has a setting at this value; true for what is no setting of it."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    return key not in point.settings or same(spell(point.settings[key]), value)


def same(own: Any, printed: Any) -> bool:
    """Whether two spellings are of one value."""
    try:
        return float(own) == float(printed)
    except ValueError:
        return str(own) == str(printed)


def same_settings(printed: Any, data: str) -> bool:
    """Whether every point of a data set has the settings that identify a printed number (``p_corr=0.995``)."""
    sweep = resolve("datasets", data)
    known = declared("datasets", sweep.base)["SETTINGS"]
    pairs = printed_settings(printed).items()
    return all(p.settings[key] == known[key].parse(key, value) for key, value in pairs if key in known for p in sweep.points)
