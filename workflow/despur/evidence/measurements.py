"""Measurements: each thing that a paper prints and that was or could be measured, once."""

from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.verdicts import JUDGED_COLUMNS
from despur.evidence.verdicts import NumberVerdict, Settings

MERGED_COLUMNS = ("reported_std", "reported_seeds", *JUDGED_COLUMNS)
SAME = ["paper", "paper_dataset", "method", "metric", "reported", "by_seed", "data"]


@dataclass(frozen=True)
class Measurement:
    """One thing that a paper prints and that was or could be measured, however often it is printed. ``setting``: the
    printed settings that tell most. ``settings``: their kind; ``choices``: what is chosen or fitted. ``difference``:
    ours minus printed, with its 95 % interval from ``low`` to ``high``. ``if_normal``: the verdict of the 90 %
    interval, which is wrong in 5 % if seeds are normal. ``threefold``: the verdict if the paper's seeds vary three
    times as much as ours (where it prints no deviation). ``runs``: what measured it; ``measured``: where."""

    paper: str
    places: tuple[str, ...]
    paper_dataset: str
    method: str
    metric: str
    unit: str
    setting: str
    settings: str
    choices: str
    reported: float
    reported_std: float
    reported_seeds: float
    ours: float
    ours_std: float
    seeds: int
    collapsed: str
    difference: float
    low: float
    high: float
    verdict: NumberVerdict
    would_decide: str
    if_normal: str
    threefold: str
    p_within_2: float
    p_within_5: float
    p_beyond_5: float
    runs: str
    data: str
    measured: str
    reason: str


def list_measurements(numbers: pd.DataFrame) -> list[Measurement]:
    """The distinct measurements of rows of printed numbers (despur/evidence/tally.py). Numbers of one method and metric
    are one where the same value is printed, with a deviation or without, our seeds gave the same values, and one's
    settings are among the other's."""
    texts = [field.name for field in fields(Measurement) if field.type is str]
    filled = numbers.fillna(dict.fromkeys([*texts, "place", "by_seed"], ""))
    groups = filled.groupby(SAME, sort=False, dropna=False)
    return [merge_rows(rows.loc[same]) for _, rows in groups for same in group_repeated(rows)]


def group_repeated(rows: pd.DataFrame) -> list[list[Any]]:
    """The index of rows with one printed value and one measurement, in groups that are one number."""
    groups: list[tuple[dict[str, str], list[Any]]] = []
    for index, text in sorted(rows["setting"].items(), key=lambda pair: -len(parse_settings(pair[1]))):
        settings = parse_settings(text)
        larger = next((group for group in groups if settings.items() <= group[0].items()), None)
        if larger is None:
            groups.append((settings, [index]))
        else:
            larger[1].append(index)
    measured = bool(rows["by_seed"].iloc[0])
    # what was measured by the same seeds is one, also where each table names other settings of it
    return [[index for _, same in groups for index in same]] if measured else [sorted(same) for _, same in groups]


def merge_rows(rows: pd.DataFrame) -> Measurement:
    """The rows of one number as one."""
    longest = rows.loc[rows["setting"].map(lambda text: len(parse_settings(text))).idxmax()]
    kinds = {**longest.to_dict(), "places": tuple(dict.fromkeys(rows["place"]))}
    # a table that prints the point of the grid, or a deviation, knows more of a number than one that does not
    ranks = rows.assign(rank=rows["settings"].map(rank_settings), fixed=rows["reported_std"].isna())
    best = rows.loc[ranks.sort_values(["rank", "fixed"], kind="stable").index[0]]
    kinds |= {name: best[name] for name in (*MERGED_COLUMNS, "settings", "choices", "reason") if name in best}
    kinds["verdict"] = NumberVerdict(kinds["verdict"])
    return Measurement(**{field.name: kinds.get(field.name, "") for field in fields(Measurement)})


def rank_settings(kind: str) -> int:
    """Fitted first: a number that a setting was found on is never compared, whatever else prints it."""
    order = [Settings.FITTED, Settings.STATED, Settings.SELECTED, Settings.FITTED_ELSEWHERE, Settings.CHOSEN]
    return order.index(Settings(kind)) if kind else len(order)
