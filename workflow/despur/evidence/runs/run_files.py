"""Reads the tables of an artifact's runs, wherever they were measured: from run folders, and from records of the
ledger."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.ledger.cards import read_card
from despur.evidence.ledger.files import load_record
from despur.evidence.runs.changed_settings import name_run
from despur.orchestration.experiments import ArtifactRun
from despur.specs.names import parse
from despur.specs.paths import Run, identify_run, locate_result
from despur.specs.resolution import resolve
from despur.storage.abouts import About, read_abouts, read_upstream
from despur.storage.finished_runs import read_metrics, read_resamples, rows_of
from despur.storage.reading import reading
from despur.storage.store import Dataset, InputError, load_dataset

HERE = "here"  # where a run of this machine was measured
MACHINE = ("machine", "processor", "device")  # by which times are compared; groups are inferred on no device
METRICS, RESAMPLES, AGREEMENT = "metrics.csv", "resamples.parquet", "agreement.csv"


class NotRun(InputError):
    """The finished runs cannot give a number; the message says why."""


def read_agreement(file: Path) -> pd.DataFrame:
    """Each column of agreement.csv as a metric of the training split."""
    with reading(file):
        table = pd.read_csv(file, float_precision="round_trip").rename(columns={"inference": "method"})
    numbers = [c for c in table if c not in ("dataset", "method", "seed")]
    long = table.melt(["dataset", "method", "seed"], numbers, "metric", "value")
    return long.assign(split="train", selection="best", group="", value=long["value"].astype(float))


READERS: dict[str, Callable[[Path], pd.DataFrame]] = {
    METRICS: read_metrics,
    RESAMPLES: read_resamples,
    AGREEMENT: read_agreement,
}


def read_parts(artifact_run: ArtifactRun, files: dict[str, str]) -> Iterator[pd.DataFrame]:
    """The tables of an artifact's runs, with a column ``measured``: where. ``files``: the file of each stage."""
    if artifact_run.sources:
        for key, source in artifact_run.sources:
            yield read_source(artifact_run, find_run(key), source, files["runs"])
    else:
        for folder in artifact_run.folders:
            if name := files.get(locate_result(folder).stage):
                yield read_once(Path(folder, name)).assign(measured=HERE)


def load_abouts(artifact_run: ArtifactRun) -> dict[str, About]:
    """What made each run of an artifact's run, by its key: seconds, steps, trained parameters and the like, and its
    machine."""
    if artifact_run.sources:
        return {key: load_about(key, source) for key, source in artifact_run.sources}
    return {key: about for folder in artifact_run.folders for key, about in read_abouts(Path(folder)).items()}


def load_abouts_of_rows(artifact_runs: Sequence[ArtifactRun]) -> dict[tuple[str, str, str, int], About]:
    """The same, by what rows of metrics call each run (:func:`name_run`)."""
    return {
        name_run(artifact_run, key): about
        for artifact_run in artifact_runs
        for key, about in load_abouts(artifact_run).items()
    }


def load_about(key: str, source: str) -> About:
    """The same of one run, from the record or the run folder that measured it."""
    return load_record(source).about() if is_record(source) else read_abouts(Path(source))[key]


def load_upstream(artifact_run: ArtifactRun) -> dict[str, dict[str, About]]:
    """The same of the runs of earlier stages behind each run of an artifact's run: by the run's key, then by stage and
    key. Older records do not tell of them."""
    if artifact_run.sources:
        return {
            key: load_record(source).upstream()
            if is_record(source)
            else read_upstream(locate_result(source), find_run(key))
            for key, source in artifact_run.sources
        }
    results = map(locate_result, artifact_run.folders)
    return {run.key: read_upstream(result, run) for result in results for run in result.runs()}


def describe_machine(about: About) -> str:
    """Processor and device: times of runs are compared where these are the same."""
    return ", ".join(str(about.get(key)) for key in MACHINE)


def load_labels(artifact_run: ArtifactRun) -> Dataset:
    """The data set of the first run: as it is here, else what the card of a record tells: labels of test samples, and
    how many training samples each class x attribute has. Raises NotRun where neither tells enough."""
    result = artifact_run.result
    if (result.data.folder / "about.json").exists():
        return load_dataset(result.data.folder, result.runs()[0].data.name)
    cards = [load_record(source).card for _, source in artifact_run.sources if is_record(source)]
    if not cards or cards[0] is None:
        raise NotRun(f"{artifact_run.dataset} is not on this machine, and no record has its labels")
    dataset = read_card(cards[0])
    if not np.array_equal(np.asarray(dataset.groups), dataset.class_attribute_groups):
        raise NotRun(f"{artifact_run.dataset} is not on this machine, and records do not have its training groups")
    return dataset


def count_test_originals(artifact_runs: Sequence[ArtifactRun], used: Mapping[str, str]) -> int | None:
    """Each once, in however many groups it is, of the data set that is used for each of the paper's; None where labels
    are not known, where no split is called test, or where runs on several data sets count as runs on one."""
    runs = {(run.paper_dataset, run.dataset): run for run in artifact_runs}
    if not runs.keys() >= set(used.items()):
        return None
    try:
        datasets = [load_labels(runs[pair]) for pair in used.items()]
    except NotRun:
        return None
    return sum(dataset.table["original"].iloc[dataset.rows("test")].nunique() for dataset in datasets) or None


def is_record(source: str) -> bool:
    """Whether a record measured a run, and no folder of this machine."""
    return source.endswith(".json")


def read_source(artifact_run: ArtifactRun, run: Run, source: str, name: str) -> pd.DataFrame:
    """The rows of one run, from the record or the run folder that measured it; settings that the artifact varies are
    columns."""
    if is_record(source):
        from despur.evidence.ledger import recorded  # scikit-learn: tables of run folders need not wait for it

        load = {METRICS: recorded.load_metrics, RESAMPLES: recorded.load_resamples}[name]
        table, where = load(source), recorded.describe_source(load_record(source))
    else:
        table, where = rows_of(read_once(Path(source, name)), run), HERE
    named = identify_run(artifact_run.result, run)
    values = table.loc[:, "split":]  # before it stand the columns that say which run
    return values.assign(**named, measured=where)


def read_once(file: Path) -> pd.DataFrame:
    """A table of a run folder, which several artifacts read, some of them run by run; anew, when it was changed."""
    state = file.stat() if file.exists() else None  # then its reader says what makes it
    return _read(file, *((state.st_mtime_ns, state.st_size) if state else ()))


@lru_cache(maxsize=64)
def _read(file: Path, *_state: int) -> pd.DataFrame:
    return READERS[file.name](file)


def find_run(key: str) -> Run:
    """The run of a key, ``cmnist/cnc+lambda=0.5/s0``."""
    data, method, seed = key.split("/")
    (point,), (spec,) = resolve("datasets", data).points, resolve("methods", method, parse(data)[0]).points
    return Run(point, spec, int(seed.removeprefix("s")))
