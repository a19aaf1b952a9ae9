"""How far the metrics of two results folders are from each other: ``python compare_devices.py CPU GPU TABLE.csv``.

A row for each metric: how many values both folders have, the share of them that is equal to the digit, the median and
the largest difference. The values are those of the best epoch on the test splits."""

import sys
from pathlib import Path

import pandas as pd

from despur.storage.store import write_csv


def read_values(folder: Path) -> pd.DataFrame:
    """All metrics.csv below ``folder`` as one table, with the run's path as a column."""
    files = sorted(folder.glob("runs/**/metrics.csv"))
    tables = [pd.read_csv(file).assign(run=str(file.parent.relative_to(folder))) for file in files]
    rows = pd.concat(tables, ignore_index=True)
    return rows[(rows["selection"] == "best") & rows["split"].str.startswith("test")]


def compare_values(one: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    """A row for each metric of both tables."""
    keys = [column for column in one.columns if column != "value" and column in other.columns]
    pairs = one.fillna("").merge(other.fillna(""), on=keys, suffixes=("", "_other"))
    pairs["difference"] = (pairs["value"] - pairs["value_other"]).abs()
    columns = {"values": "size", "equal": lambda each: (each == 0).mean(), "median": "median", "largest": "max"}
    return pairs.groupby("metric")["difference"].agg(**columns).reset_index()


def main() -> None:
    one, other, target = map(Path, sys.argv[1:])
    table = compare_values(read_values(one), read_values(other))
    write_csv(target, table)
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
