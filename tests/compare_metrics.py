"""Compare every metrics.csv of two results folders, value by value: ``python tests/compare_metrics.py BEFORE AFTER``.

For a change of the code that must not change digits. Columns that were renamed stand in ``RENAMED``, old name to new
name; a run is found by its path, which does not change. Exit status 1 if any value differs or any run is missing.
"""

import sys
from pathlib import Path

import pandas as pd

RENAMED: dict[str, str] = {}  # columns of metrics.csv


def read_metrics(file: Path) -> pd.DataFrame:
    """A metrics.csv as text, so that values are compared to the last digit; rows in one order."""
    table = pd.read_csv(file, dtype=str, keep_default_na=False).rename(columns=RENAMED)
    return table.sort_values(list(table.columns), ignore_index=True)


def compare(before: Path, after: Path) -> list[str]:
    """A line for each file of ``before`` that ``after`` lacks or has otherwise."""
    faults = []
    for file in sorted(before.glob("runs/**/metrics.csv")):
        other = after / file.relative_to(before)
        if not other.exists():
            faults.append(f"missing: {other}")
        elif not read_metrics(file).equals(read_metrics(other)):
            faults.append(f"different: {other}")
    return faults


def main() -> None:
    before, after = map(Path, sys.argv[1:])
    count = len(list(before.glob("runs/**/metrics.csv")))
    faults = compare(before, after)
    print(*faults, sep="\n", end="\n" if faults else "")
    print(f"{count - len(faults)} of {count} metrics.csv are identical to the digit")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
