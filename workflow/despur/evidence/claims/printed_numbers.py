"""The numbers that a paper prints, as measurements that claims may use."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.numbers.printed import is_same, parse_settings, read_reported
from despur.evidence.numbers.verdicts import last_digit
from despur.evidence.statistics.formulas import DEFAULTS, Correlation, Formula, Formulas
from despur.evidence.statistics.levels import MeasurementKeys


@cache
def load_printed_numbers(folder: Path) -> pd.DataFrame:
    """All numbers that a paper prints (reported/*.csv), as shares where they are percentages, with a column for each
    printed setting."""
    table = read_reported(folder)
    settings = pd.DataFrame([parse_settings(text) for text in table["setting"]], table.index)
    others = settings.drop(columns="table", errors="ignore")  # the file counts, also where a number says another table
    table = table.join(others).assign(settings=settings.notna().sum(axis=1))
    share = table["unit"].isin(["percent", "pp"])
    scale = np.where(share, 100, 1)
    digits = table.groupby(["table", "metric"])["mean"].transform(lambda means: 2 * last_digit(means))
    table = table.assign(digit=digits / scale, deviation=table["std"].fillna(0) / scale)
    names = {"dataset": "paper_dataset", "method": "paper_method"}
    return table.assign(seed=0, value=table["mean"] / scale).rename(columns=names)


def loosen(formulas: Formulas, printed: "PrintedNumbers") -> Formulas:
    """Formulas whose margins are lower by what printed digits and deviations leave open."""
    parts: list[Formula | Correlation | Formulas] = []
    for part in formulas.parts:
        if isinstance(part, Formulas):
            parts.append(loosen(part, printed))
        elif isinstance(part, Formula):
            parts.append(replace(part, margin=part.margin - printed.find_slack(part)))
        else:
            parts.append(part)
    return replace(formulas, parts=parts)


class PrintedNumbers(MeasuredValues):
    """The numbers that a paper prints. ``names``: how its tables call measurements (``printed`` of claims.yaml);
    ``first``: the table that counts where several have a number. Of numbers at several settings, those at the fewest
    settings that the claim does not name count."""

    def __init__(self, folder: Path, names: Sequence[Mapping[str, Any]], first: str = "") -> None:
        super().__init__(load_printed_numbers(folder))
        self.names, self.first = names, first

    def rows(self, table: pd.DataFrame, measurement: Mapping[str, Any]) -> pd.DataFrame:
        return super().rows(table, self.rename_measurement(measurement))

    def keep_preferred(self, rows: pd.DataFrame) -> pd.DataFrame:
        first_rows = rows[rows["table"] == self.first]
        rows = first_rows if len(first_rows) else rows
        return rows[rows["settings"] == rows["settings"].min()]

    def find_slack(self, formula: Formula) -> float:
        """How far a printed contrast may lie on the wrong side and contradict nothing: a unit of the last printed
        digit, and the printed deviations of its sides."""
        digit, noise = 0.0, 0.0
        for weight, term in formula.terms:
            row = self.find_rows(term).iloc[0]
            slope = abs(weight / row["value"] if formula.scale == "log" else weight)
            digit, noise = max(digit, slope * row["digit"]), noise + (slope * row["deviation"]) ** 2
        return float(digit + np.sqrt(noise))

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]:
        return super().levels(key.removeprefix("data."), measurement)

    def rename_measurement(self, measurement: Mapping[str, Any]) -> MeasurementKeys:
        """A measurement as the paper's tables call it."""
        renamed = dict(measurement)
        for rule in self.names:
            if all(key in renamed and is_same(renamed[key], value) for key, value in rule["of"].items()):
                renamed = {key: value for key, value in renamed.items() if key not in rule["of"]} | rule["is"]
        return {key.removeprefix("data."): value for key, value in renamed.items() if DEFAULTS.get(key) != value}
