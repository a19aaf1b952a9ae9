"""Tables of Correct-N-Contrast."""

from pathlib import Path

import pandas as pd

from despur.experiments import Cell
from despur.tables import compare, load_metrics, main, write_table

REPORTED = Path(__file__).parent / "reported"
SEEDS = 3  # App. E.2.1


def table_1(cells: list[Cell], output: Path) -> None:
    """Worst-group and average accuracy of every method on every data set."""
    write_table(output, compare(pd.read_csv(REPORTED / "table_1.csv"), load_metrics(cells), SEEDS))


if __name__ == "__main__":
    main({"table_1": table_1})
