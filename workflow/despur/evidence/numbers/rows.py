"""What a row says of our runs beside a printed number: values by seed, collapsed seeds, settings, why it is not
compared."""

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import explain_not_compared
from despur.evidence.numbers.settings import Origin
from despur.evidence.runs.collapsed import describe_collapsed, mark_seeds
from despur.evidence.verdicts import NumberVerdict, Settings


def describe_printed(number: Any, reported_seeds: float = math.nan) -> dict[str, Any]:
    """The columns of a printed number (a row of reported/*.csv) that was not run."""
    base = {key: getattr(number, key) for key in ("method", "setting", "metric", "note")}
    base |= {"paper_dataset": number.dataset, "reported": number.mean, "reported_std": number.std}
    return base | {"reported_seeds": reported_seeds, "seeds": 0, "verdict": NumberVerdict.NOT_RUN}


def name_sources(rows: pd.DataFrame) -> str:
    """Where rows were measured: on this machine, or by which commit on which other."""
    return "; ".join(sorted(set(rows["measured"].dropna()))) if "measured" in rows else ""


def name_runs(rows: pd.DataFrame) -> str:
    """Of which runs rows are: ``cmnist/erm; cmnist/jtt``."""
    return "; ".join(sorted({f"{run.data}/{run.method}" for run in rows.itertuples()}))


def keep_sound(rows: pd.DataFrame) -> "pd.Series[float]":
    """The values of the seeds that did not collapse."""
    return rows.loc[~mark_seeds(rows), "value"].dropna()


def describe_by_seed(values: "pd.Series[float]") -> str:
    """``0:71.2 2:70.9``: a value for each seed, which is its index; :func:`read_by_seed` reads it."""
    return " ".join(f"{seed}:{value:.10g}" for seed, value in values.items())


def read_by_seed(text: str) -> "pd.Series[float]":
    """The value of each seed."""
    pairs = (item.split(":") for item in text.split())
    return pd.Series({int(seed): float(value) for seed, value in pairs}, dtype=float)


def describe_values(rows: pd.DataFrame) -> dict[str, Any]:
    """In percent, our mean and deviation over the seeds that did not collapse, and the value of each of these; how many
    collapsed. Where all collapsed, of all: they are shown, and not compared."""
    rows = rows.sort_values("seed")
    by_seed = rows.set_index("seed")
    sound = keep_sound(by_seed)
    kept = 100 * (sound if len(sound) else by_seed["value"].dropna())
    if not len(kept):
        return {"seeds": 0, "verdict": NumberVerdict.NOT_COMPARED, "reason": "not applicable"}
    return {
        "ours": kept.mean(),
        "ours_std": kept.std(),
        "seeds": len(kept),
        "by_seed": describe_by_seed(kept),
        "collapsed": describe_collapsed(mark_seeds(rows)),
        "runs": name_runs(rows) if "method" in rows else "",
        "measured": name_sources(rows),
    }


def refuse_number(number: Any, data: str, changes: Mapping[str, str], origin: Origin | None) -> dict[str, Any]:
    """The verdict and reason of runs that are not compared with a printed number; empty where they are. ``origin``: of
    their settings; None on substitute data."""
    if pd.isna(number.mean):
        return {"verdict": NumberVerdict.NOT_COMPARED, "reason": "nothing printed"}
    refused = explain_not_compared(number.setting, data, origin is None, changes)
    return refused if refused or origin is None else refuse_settings(origin)


def refuse_settings(origin: Origin) -> dict[str, Any]:
    """The verdict and reason of runs whose settings are not compared; empty where they are."""
    kind = NumberVerdict.FITTED if origin.kind == Settings.FITTED else NumberVerdict.OTHER_SETTINGS
    return {"verdict": kind, "reason": origin.refused} if origin.refused else {}
