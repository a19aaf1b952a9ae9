"""Reads the tables of an artifact's runs, wherever they were measured: from run folders, and from records of the
ledger."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.specs.names import parse
from despur.specs.paths import Run, identify_run, locate
from despur.specs.resolution import resolve
from despur.storage.finished_runs import read_metrics, rows_of

HERE = "here"  # where a run of this machine was measured
METRICS, RESAMPLES, AGREEMENT = "metrics.csv", "resamples.parquet", "agreement.csv"


def read_agreement(file: Path) -> pd.DataFrame:
    """Each column of agreement.csv as a metric of the training split."""
    table = pd.read_csv(file, float_precision="round_trip").rename(columns={"inference": "method"})
    numbers = [c for c in table if c not in ("dataset", "method", "seed")]
    long = table.melt(["dataset", "method", "seed"], numbers, "metric", "value")
    return long.assign(split="train", selection="best", group="", value=long["value"].astype(float))


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    METRICS: read_metrics,
    RESAMPLES: pd.read_parquet,
    AGREEMENT: read_agreement,
}


def read_parts(artifact_run: ArtifactRun, files: dict[str, str]) -> Iterator[pd.DataFrame]:
    """The tables of an artifact's runs, with a column ``measured``: where. ``files``: the file of each stage."""
    if artifact_run.sources:
        for key, source in artifact_run.sources:
            yield read_source(artifact_run, find_run(key), source, files["runs"])
    else:
        for folder in artifact_run.folders:
            if name := files.get(locate(folder).stage):
                yield READERS[name](Path(folder) / name).assign(measured=HERE)


def read_source(artifact_run: ArtifactRun, run: Run, source: str, name: str) -> pd.DataFrame:
    """The rows of one run, from the record or the run folder that measured it; settings that the artifact varies are
    columns."""
    if source.endswith(".json"):
        from despur.reporting import recorded  # scikit-learn: tables of run folders need not wait for it

        load = {METRICS: recorded.load_metrics, RESAMPLES: recorded.load_resamples}[name]
        table, where = load(source), recorded.describe_machine(recorded.load_record(source))
    else:
        table, where = rows_of(read_once(source, name), run), HERE
    named = identify_run(locate(artifact_run.folders[0]), run)
    values = table.loc[:, "split":]  # before it stand the columns that say which run
    return values.assign(**named, measured=where)


@lru_cache(maxsize=16)
def read_once(folder: str, name: str) -> pd.DataFrame:
    """A table of a run folder that several artifacts read run by run."""
    return READERS[name](Path(folder) / name)


def find_run(key: str) -> Run:
    """The run of a key, ``cmnist/cnc+lambda=0.5/s0``."""
    data, method, seed = key.split("/")
    (point,), (spec,) = resolve("datasets", data).points, resolve("methods", method, parse(data)[0]).points
    return Run(point, spec, int(seed.removeprefix("s")))
