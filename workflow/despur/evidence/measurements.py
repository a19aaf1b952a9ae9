"""Measurements: each thing that a paper prints and that was or could be measured, once."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.verdicts import JUDGED_COLUMNS
from despur.evidence.verdicts import NumberVerdict, Settings

MERGED_COLUMNS = ("reported_std", "reported_seeds", *JUDGED_COLUMNS)
Row = dict[Hashable, Any]  # of a table, by column
SAME_MEASUREMENT = ["paper", "paper_dataset", "method", "metric", "reported", "by_seed", "data"]


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
    groups: dict[int, list[Row]] = {}
    group_numbers = filled.groupby(SAME_MEASUREMENT, dropna=False).ngroup()
    for group, row in zip(group_numbers, filled.to_dict("records"), strict=True):
        groups.setdefault(group, []).append(row)
    return [merge_rows(same) for rows in groups.values() for same in group_repeated(rows)]


def group_repeated(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows with one printed value and one measurement, in groups that are one number."""
    if rows[0]["by_seed"]:  # what was measured by the same seeds is one, also where each table names other settings
        return [list(rows)]
    groups: list[tuple[dict[str, str], list[int]]] = []
    parsed = [parse_settings(row["setting"]) for row in rows]
    for number in sorted(range(len(rows)), key=lambda number: -len(parsed[number])):
        larger = next((group for group in groups if parsed[number].items() <= group[0].items()), None)
        if larger is None:
            groups.append((parsed[number], [number]))
        else:
            larger[1].append(number)
    return [[rows[number] for number in sorted(same)] for _, same in groups]


def merge_rows(rows: Sequence[Row]) -> Measurement:
    """The rows of one number as one."""
    longest = max(rows, key=lambda row: len(parse_settings(row["setting"])))
    # a table that prints the point of the grid, or a deviation, knows more of a number than one that does not
    best = min(rows, key=lambda row: (rank_settings(row["settings"]), pd.isna(row["reported_std"])))
    places = sorted((row["place"] for row in rows), key=lambda place: place == "text")  # tables first
    values = longest | {"places": tuple(dict.fromkeys(places))}
    values |= {name: best[name] for name in (*MERGED_COLUMNS, "settings", "choices", "reason") if name in best}
    values["verdict"] = NumberVerdict(values["verdict"])
    return Measurement(**{field.name: values.get(field.name, "") for field in fields(Measurement)})


def rank_settings(kind: str) -> int:
    """Fitted first: a number that a setting was found on is never compared, whatever else prints it."""
    order = [Settings.FITTED, Settings.STATED, Settings.SELECTED, Settings.FITTED_ELSEWHERE, Settings.CHOSEN]
    return order.index(Settings(kind)) if kind else len(order)
