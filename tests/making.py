"""Made-up finished runs, and the tables of papers that are made of them. No torch here."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from despur.orchestration import artifact_files, experiments

Rows = pd.DataFrame | list[dict[str, Any]]


def write_run(
    folder: Path,
    rows: Rows,
    noise: Iterable[float] | Callable[[pd.DataFrame], np.ndarray] | None = None,
    about: dict[str, Any] | None = None,
) -> str:
    """Files of a finished run: ``rows`` of metrics.csv; where there is ``noise``, (K,) or what makes (N,K) of rows, the
    values of test data with it in resamples.parquet; and about.json."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(rows)
    table = table.assign(**{key: value for key, value in (("selection", "best"), ("group", "")) if key not in table})
    table.to_csv(folder / "metrics.csv", index=False)
    if noise is not None:
        values = table[table["split"].str.startswith("test") & table["metric"].ne("samples")]
        drawn = values[["value"]].to_numpy() + np.asarray(noise(values) if callable(noise) else noise)
        clouds = pd.DataFrame(drawn, values.index, [str(i) for i in range(drawn.shape[1])])
        values.drop(columns="value").join(clouds).to_parquet(folder / "resamples.parquet", index=False)
    if about is not None:
        (folder / "about.json").write_text(json.dumps(about))
    return str(folder)


def list_tables(paper: str) -> list[str]:
    """Artifacts of a paper that are tables."""
    artifacts = experiments.load_experiments(paper)["artifacts"]
    return [name for name in artifacts if artifact_files.find_module(name) == artifact_files.TABLE]


def make_table(
    tables: ModuleType, name: str, artifact_runs: Any, folder: Path, **read: Any
) -> tuple[pd.DataFrame, str]:
    """A paper's table as it is written, and as people read it; where it has several files, one below the other."""
    artifacts = experiments.load_experiments(tables.__name__.split(".")[-2])["artifacts"]
    names = artifacts[name].get("writes", [name])
    tables.ARTIFACTS[name](artifact_runs, folder / names[0])
    for each in names:
        assert {p.suffix for p in folder.glob(f"{each}.*")} == {".csv", ".md", ".tex", ".html"}
    parts = [pd.read_csv(folder / f"{each}.csv", float_precision="round_trip", **read) for each in names]
    return pd.concat(parts, ignore_index=True), "".join((folder / f"{each}.md").read_text() for each in names)


def row_of(table: pd.DataFrame, **keys: Any) -> Any:
    """The only row with these values."""
    (row,) = table[np.logical_and.reduce([table[key] == value for key, value in keys.items()])].to_dict("records")
    return row
