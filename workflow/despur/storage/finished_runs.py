"""The metrics of finished runs: one reader of metrics.csv for all of despur, and
``despur.load_metrics("results/runs/colored_digits/*/s0-2")``, the metrics of many runs as one table."""

import re
from collections.abc import Iterable, Mapping
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Any

from despur.specs.paths import SEEDS, ResultPath, Run, locate_result
from despur.specs.settings import SettingError
from despur.storage import checksums
from despur.storage.reading import read_parquet, reading

if TYPE_CHECKING:
    import pandas as pd

HISTORY = ["dataset", "method", "seed", "epoch", "step", "name", "value"]
FIRST, LAST = ["dataset", "method"], ["seed", "split", "selection", "metric", "group", "value", "folder"]


def load_metrics(*patterns: str | Path) -> "pd.DataFrame":
    """All metrics of the runs whose folders (or files in them) these ``patterns`` match, a row for each.

    Columns: ``dataset``, ``method``, a column for each setting that a sweep varies (empty for runs that do not vary
    it), ``seed``, ``split``, ``selection`` (best, last), ``metric``, ``group`` (empty: of all samples), ``value``,
    ``folder``. Shares are from 0 to 1; docs/metrics.md has all units. Raises SettingError where a pattern matches no
    finished run.

    >>> import despur
    >>> metrics = despur.load_metrics("results/runs/colored_digits/*/s0")  # where despur.train has kept them
    >>> list(metrics)[:4]
    ['dataset', 'method', 'seed', 'split']
    """
    import pandas as pd

    if not patterns:
        raise SettingError('name folders of runs: load_metrics("results/runs/colored_digits/*/s0-2")')
    tables = [read_metrics(folder / "metrics.csv").assign(folder=str(folder)) for folder in find_runs(patterns)]
    table = pd.concat(tables, ignore_index=True)
    settings = [name for name in table if name not in (*FIRST, *LAST)]
    return table[[*FIRST, *settings, *LAST]]


def find_runs(patterns: Iterable[str | Path]) -> list[Path]:
    """The folders of finished runs that patterns match, each once. Raises SettingError where a pattern matches none."""
    finished_folders: list[Path] = []
    for pattern in patterns:
        paths = sorted(glob(str(pattern)))  # noqa: PTH207, absolute, too
        paths = [path for path in paths if path == str(pattern) or not is_copy(Path(path))]
        folders = [locate_result(path).folder for path in paths]
        finished = [folder for folder in folders if (folder / "metrics.csv").exists()]
        if not finished:
            raise SettingError(f"{pattern}: no finished run; they are folders results/runs/DATASET/METHOD/SEEDS")
        finished_folders += finished
    return list(dict.fromkeys(finished_folders))


def is_copy(path: Path) -> bool:
    """Whether a folder, or that of a file, is called otherwise than those of runs, as ``s0_old``."""
    return not re.fullmatch(SEEDS, (path if path.is_dir() else path.parent).name)


def read_metrics(file: Path) -> "pd.DataFrame":
    """A metrics.csv, its values bit-identical to those that were written."""
    import pandas as pd

    undefined, resamples = {"value": ["nan", ""]}, file.with_name("resamples.parquet")
    kept = {}
    if resamples.exists():
        with reading(resamples):
            kept = read_parquet(resamples, columns=[]).attrs.get(checksums.CHECKSUMS, {})
    with reading(file):
        checksums.compare(file, kept)
        table = pd.read_csv(
            file, keep_default_na=False, na_values=undefined, low_memory=False, float_precision="round_trip"
        )
    return table.astype({"group": str})


def read_history(file: Path) -> "pd.DataFrame":
    """A history.csv: what a training wrote by step."""
    import pandas as pd

    with reading(file):
        return pd.read_csv(file)[HISTORY]


def read_resamples(file: Path) -> "pd.DataFrame":
    """A resamples.parquet: values of metrics on bootstrap samples. It also keeps a checksum of its values, and that of
    the metrics.csv beside it, which the same job wrote."""
    with reading(file):
        table = read_parquet(file)
        if table.attrs.get(checksums.CHECKSUMS, {}).get("values") not in (None, checksums.compute_values(table)):
            raise ValueError(checksums.OTHER)
    return table


def list_bootstrap_columns(table: "pd.DataFrame") -> list[str]:
    """The columns of resamples.parquet that hold bootstrap values: "0", "1", ..., one for each bootstrap sample."""
    return [name for name in table if str(name).isdigit()]


def rows_of(table: "pd.DataFrame", run: Run) -> "pd.DataFrame":
    """The rows of one run, of a table of a folder's runs."""
    return table[(table["dataset"] == run.data.name) & (table["method"] == run.spec.name) & (table["seed"] == run.seed)]


def means_the_same(result: ResultPath, about: Mapping[str, Any]) -> bool:
    """Whether the name of a folder stands for the settings that it was made with, as its about.json says."""
    named = {"dataset": result.datasets.points, "points": result.sweep.points}
    return all(about["specification"][key] == [point.resolved() for point in points] for key, points in named.items())
