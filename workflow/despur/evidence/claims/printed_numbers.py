"""The numbers that a paper prints, as measurements that claims may use."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.evidence import Source
from despur.evidence.numbers.printed import is_same, parse_settings
from despur.evidence.statistics.formulas import DEFAULTS
from despur.evidence.statistics.levels import Measurement


@cache
def load_printed_numbers(folder: Path) -> pd.DataFrame:
    """All numbers that a paper prints (reported/*.csv), as shares where they are percentages, with a column for each
    printed setting."""
    tables = []
    for file in sorted(folder.glob("*.csv")):
        table = pd.read_csv(file, dtype={"setting": str})
        if "metric" in table:
            settings = pd.DataFrame([parse_settings(text) for text in table["setting"]], table.index)
            tables.append(table.join(settings).assign(table=file.stem, settings=settings.notna().sum(axis=1)))
    table = pd.concat(tables, ignore_index=True)
    table = table[~table["metric"].str.startswith("hyperparameter") & table["mean"].notna()]
    share = table["unit"].isin(["percent", "pp"])
    return table.assign(seed=0, value=table["mean"] / np.where(share, 100, 1)).rename(
        columns={"dataset": "paper_dataset", "method": "paper_method"}
    )


class Printed(Source):
    """The numbers that a paper prints. ``names``: how its tables call measurements (``printed`` of claims.yaml);
    ``first``: the table that counts where several have a number. Of numbers at several settings, those at the fewest
    settings that the claim does not name count."""

    def __init__(self, folder: Path, names: Sequence[Mapping[str, Any]], first: str = "") -> None:
        super().__init__(load_printed_numbers(folder))
        self.names, self.first = names, first

    def rows(self, table: pd.DataFrame, measurement: Mapping[str, Any]) -> pd.DataFrame:
        return super().rows(table, self.rename_measurement(measurement))

    def keep_preferred(self, rows: pd.DataFrame) -> pd.DataFrame:
        own = rows[rows["table"] == self.first]
        rows = own if len(own) else rows
        return rows[rows["settings"] == rows["settings"].min()]

    def levels(self, key: str, measurement: Measurement) -> list[Any]:
        return super().levels(key.removeprefix("data."), measurement)

    def rename_measurement(self, measurement: Mapping[str, Any]) -> Measurement:
        """A measurement as the paper's tables call it."""
        own = dict(measurement)
        for rule in self.names:
            if all(key in own and is_same(own[key], value) for key, value in rule["of"].items()):
                own = {key: value for key, value in own.items() if key not in rule["of"]} | rule["is"]
        return {key.removeprefix("data."): value for key, value in own.items() if DEFAULTS.get(key) != value}
