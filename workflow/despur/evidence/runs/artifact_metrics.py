"""Metrics and resamples of the runs behind an artifact, local or recorded."""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.runs import run_files
from despur.evidence.runs.changed_settings import describe_changes, describe_shortening, name_data
from despur.evidence.runs.collapsed import mark_collapsed
from despur.evidence.runs.grids import Grid, MeasuredMethods, describe_grid, find_measured_methods, name_family
from despur.orchestration.experiments import ArtifactRun

IDENTITY = {  # columns that are the same in all rows of an artifact's run: attributes of it
    "paper_dataset": "paper_dataset",
    "used_dataset": "dataset",
    "paper_method": "paper_method",
    "substitute": "substitute",
    "artifact": "artifact",
    "paper": "paper",
}
TOLD = ("candidate", *Grid._fields, "changed", "shortened")  # of a method on its data
ROW_COLUMNS = (
    *("data", "method", *TOLD, "collapsed", "seed"),
    *("split", "selection", "metric", "group", "value", "measured"),
)


def parse_artifact_runs(text: str) -> list[ArtifactRun]:
    """The runs of an artifact that a rule hands over as JSON."""
    artifact_runs = []
    for entries in json.loads(text)["artifact_runs"]:
        folders, sources = tuple(entries["folders"]), tuple(map(tuple, entries.get("sources", ())))
        artifact_runs.append(ArtifactRun(**{**entries, "folders": folders, "sources": sources}))
    return artifact_runs


def load_metrics(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """What was measured of an artifact's runs in long form, with the paper's data set (``paper_dataset``), the one
    that was used (``used_dataset``), the paper's method (``paper_method``), whether the data is a ``substitute``,
    which settings are ``changed`` from the paper's, which of these make training shorter (``shortened``), how its grid
    was searched (:class:`Grid`), whether the seed ``collapsed`` (on data of the paper; of these rows, verdicts read
    none), and where it was ``measured``.

    Of runs: metrics.csv. Of groups: agreement.csv, each of its columns a metric of the training split.
    """
    return _load(artifact_runs, {"runs": run_files.METRICS, "groups": run_files.AGREEMENT})


def load_resamples(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Bootstrap values of the headline split: a row for each run, metric and group, columns "0", "1", ...: the
    bootstrap samples."""
    return _load(artifact_runs, {"runs": run_files.RESAMPLES})


def load_saliency(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """saliency.csv of all runs that are here, with whose rows these are."""
    parts = []
    for artifact_run in artifact_runs:
        for folder in artifact_run.folders:
            part = pd.read_csv(Path(folder, "saliency.csv"), dtype={"group": str}).rename(columns={"dataset": "data"})
            part["data"] = part["data"].map(partial(name_data, artifact_run))
            parts.append(part.assign(**identify_rows(artifact_run)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def identify_rows(artifact_run: ArtifactRun) -> dict[str, Any]:
    """The columns that say whose rows these are."""
    return {column: getattr(artifact_run, name) for column, name in IDENTITY.items()}


def _load(artifact_runs: Sequence[ArtifactRun], files: dict[str, str]) -> pd.DataFrame:
    parts, measured = [], find_measured_methods(artifact_runs)
    for artifact_run in artifact_runs:
        for table in run_files.read_parts(artifact_run, files):
            part = table.rename(columns={"dataset": "data"}).assign(**identify_rows(artifact_run))
            part["data"] = part["data"].map(partial(name_data, artifact_run))
            runs = part[["data", "method"]].drop_duplicates().to_numpy()
            told = [(data, method, *describe_run(artifact_run, data, method, measured)) for data, method in runs]
            part = part.merge(pd.DataFrame(told, columns=["data", "method", *TOLD]), on=["data", "method"])
            if "value" in part:  # what is never compared is about all seeds
                part["collapsed"] = False if artifact_run.substitute else mark_collapsed(part)
            parts.append(part)
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=[*IDENTITY, *ROW_COLUMNS])


def describe_run(artifact_run: ArtifactRun, data: str, method: str, measured: MeasuredMethods) -> tuple[Any, ...]:
    """What all rows of a method on its data say, a value for each of TOLD. ``measured``: by family, the methods among
    which one is selected."""
    family = measured.get(name_family(artifact_run, data), frozenset())
    grid, run = describe_grid(artifact_run, data, method, family), (artifact_run, data, method)
    return not family or method in family, *grid, describe_changes(*run), describe_shortening(*run)


def keep_candidates(table: pd.DataFrame, family: Sequence[str]) -> pd.DataFrame:
    """The rows of the methods among which one of a family (columns) is selected, of the seeds that all of them have (of
    all seeds, where they share none): seeds differ by more than settings do. ``table``: metrics or resamples."""
    table = table[table["candidate"].astype(bool)]
    if not len(table):
        return table
    methods = table.groupby([*family], sort=False)["method"].transform("nunique")
    shared = methods == table.groupby([*family, "seed"], sort=False)["method"].transform("nunique")
    shares_some = shared.groupby([table[key] for key in family], sort=False).transform("any")
    return table[shared | ~shares_some]


def rows_where(table: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """The rows that have each of these values, or one of several, in the column of its name."""
    for key, value in values.items():
        if len(table):
            several = isinstance(value, Iterable) and not isinstance(value, str)
            table = table[table[key].isin(list(value)) if several else table[key] == value]
    return table


def rows_of_data(table: pd.DataFrame, artifact_run: ArtifactRun, **values: Any) -> pd.DataFrame:
    """The rows that are of the data of a run, and have these values (:func:`rows_where`)."""
    return rows_where(table, paper_dataset=artifact_run.paper_dataset, used_dataset=artifact_run.dataset, **values)


def select_test(metrics: pd.DataFrame, **values: Any) -> pd.DataFrame:
    """Test rows of the models that are best on validation data, with these values (:func:`rows_where`)."""
    return rows_where(metrics, split="test", selection="best", **values)
