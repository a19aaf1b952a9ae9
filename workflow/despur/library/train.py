"""``despur.train``: the programs of the stages, one after the other, without Snakemake."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch.utils.data

from despur.library.own_data import locate_data
from despur.library.split_dataset import SplitDataset
from despur.specs.extras import name_extra
from despur.specs.names import parse
from despur.specs.paths import ResultPath, chunk_seeds
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.specs.stages import STAGES
from despur.storage.digest import cache_key
from despur.storage.finished_runs import read_metrics

if TYPE_CHECKING:
    import pandas as pd

KEY = "made_by_train.json"  # what a folder that :func:`train` made follows from


@name_extra()
def train(
    method: str,
    data: "str | SplitDataset | Mapping[str, torch.utils.data.Dataset[Any]]",
    seeds: int = 1,
    results: str | Path | None = None,
) -> "pd.DataFrame":
    """Train and evaluate a ``method``, with settings if you like (``cnc+temperature=0.05``), as the pipeline does, to
    the digit; returns its metrics: a row for each seed, split, selection, metric and group (docs/metrics.md).

    ``data``: the name of a data set; what :func:`dataset` gives, whose splits are all used; or data of your own, a
    ``torch.utils.data.Dataset`` for each of ``train``, ``val`` and ``test``, which gives (input, class, attribute):
    embeddings (D,), or images uint8 (H,W,3) or float (3,H,W) in [0,1]. ``seeds``: how many, from 0. ``results``: a
    folder that keeps models, and what later calls read again (default: none is kept). Each stage is a process of its
    own. Raises SettingError with what a stage refused.

    >>> import despur
    >>> metrics = despur.train("erm+epochs=1", "colored_digits", results="results")
    >>> rows = metrics[(metrics["split"] == "test") & (metrics["metric"] == "worst_group_accuracy")]
    >>> rows[["dataset", "method", "seed", "selection"]].to_dict("records")[0]
    {'dataset': 'colored_digits', 'method': 'erm+epochs=1', 'seed': 0, 'selection': 'best'}
    >>> y, a = torch.arange(90) % 2, torch.arange(90) % 3 % 2
    >>> mine = torch.utils.data.TensorDataset(torch.randn(90, 8), y, a)
    >>> metrics = despur.train("erm+epochs=1", {"train": mine, "val": mine, "test": mine})
    >>> int((metrics["metric"] == "worst_group_accuracy").sum())  # of three splits, after the best step and the last
    6
    """
    with ExitStack() as stack:
        folder = Path(results or stack.enter_context(tempfile.TemporaryDirectory()))
        name, root = locate_data(data, folder)
        stack.enter_context(use_data_root(root.resolve()))
        run = spell_run(folder, method, name, seeds)
        for result in list_unmade(run):
            run_program(result.stage, result)
        run_program("evaluate", run)
        return read_metrics(run.folder / "metrics.csv")


@contextmanager
def use_data_root(root: Path) -> Iterator[None]:
    """Raw data lies in this folder for the time being: for cache keys, which this process computes, and for the
    programs that it starts."""
    before = os.environ.get("DESPUR_DATA_ROOT")
    os.environ["DESPUR_DATA_ROOT"] = str(root)
    try:
        yield
    finally:
        os.environ.pop("DESPUR_DATA_ROOT")
        if before is not None:
            os.environ["DESPUR_DATA_ROOT"] = before


def spell_run(folder: Path, method: str, data: str, seeds: int) -> ResultPath:
    """The folder of the runs of a method on a data set. Raises SettingError for names and settings that do not
    exist."""
    dataset = resolve("datasets", data).name
    name = resolve("methods", method, parse(dataset)[0]).name
    if isinstance(seeds, bool) or not isinstance(seeds, Integral) or seeds < 1:
        raise SettingError(f"seeds={seeds!r}: how many, a whole number from 1 on")
    return ResultPath(folder, "runs", dataset, name, chunk_seeds(int(seeds), int(seeds))[0])


def list_unmade(result: ResultPath) -> Iterator[ResultPath]:
    """The results that are to be made, each after those that it reads, by the time it is asked for the next one."""
    for earlier in result.list_earlier():
        yield from list_unmade(earlier)
    made_from = [hashlib.sha256((earlier.folder / KEY).read_bytes()).hexdigest() for earlier in result.list_earlier()]
    key = json.loads(cache_key.__wrapped__(result))  # not what it was before raw files changed
    text, kept = json.dumps({"key": key, "made_from": made_from}), result.folder / KEY
    if not kept.exists() or kept.read_text() != text:
        yield result
        kept.write_text(text)


def run_program(stage: str, result: ResultPath) -> None:
    """Run the program of a stage. Its warnings are warnings here; what it refuses is an error."""
    command = [sys.executable, "-m", f"despur.{STAGES[stage].program}", str(result.folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    for line in [*done.stdout.splitlines(), *done.stderr.splitlines()]:
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), stacklevel=3)
    if done.returncode:
        said = done.stderr.strip() or f"{result.folder}: the program of {stage} ended with {done.returncode}"
        raise SettingError(said.rpartition("\nerror: ")[2].removeprefix("error: "))
