"""The metrics of finished runs as one table: ``despur.load_metrics("results/runs/colored_digits/*/s0-2")``."""

from collections.abc import Iterable
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from despur.specs.paths import locate
from despur.specs.settings import SettingError

if TYPE_CHECKING:
    import pandas as pd

FIRST, LAST = ["dataset", "method"], ["seed", "split", "selection", "metric", "group", "value", "folder"]


def load_metrics(*patterns: str | Path) -> "pd.DataFrame":
    """All metrics of the runs whose folders (or files in them) these patterns match, a row for each.

    Columns: ``dataset``, ``method``, a column for each setting that a sweep varies (empty for runs that do not vary
    it), ``seed``, ``split``, ``selection`` (best, last), ``metric``, ``group`` (empty: of all samples), ``value``,
    ``folder``. Shares are from 0 to 1; docs/metrics.md has all units. Raises SettingError where a pattern matches no
    finished run."""
    import pandas as pd

    if not patterns:
        raise SettingError('name folders of runs: load_metrics("results/runs/colored_digits/*/s0-2")')
    tables = [read_metrics(folder) for folder in find_runs(patterns)]
    table = pd.concat(tables, ignore_index=True)
    settings = [name for name in table if name not in (*FIRST, *LAST)]
    return table[[*FIRST, *settings, *LAST]]


def find_runs(patterns: Iterable[str | Path]) -> list[Path]:
    """The folders of finished runs that patterns match, each once. Raises SettingError where a pattern matches none."""
    found: list[Path] = []
    for pattern in patterns:
        folders = [locate(path).folder for path in sorted(glob(str(pattern)))]  # noqa: PTH207, it may be absolute
        finished = [folder for folder in folders if (folder / "metrics.csv").exists()]
        if not finished:
            raise SettingError(f"{pattern}: no finished run; they are folders results/runs/DATASET/METHOD/SEEDS")
        found += finished
    return list(dict.fromkeys(found))


def read_metrics(folder: Path) -> "pd.DataFrame":
    """The metrics of one folder, with a column that names it."""
    import pandas as pd

    table = pd.read_csv(
        folder / "metrics.csv", keep_default_na=False, na_values={"value": ["nan", ""]}, low_memory=False
    )
    return table.assign(folder=str(folder))
