"""The package as a library: a data set as a ``torch.utils.data.Dataset``, and methods trained without Snakemake."""

import hashlib
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import torch
import torch.utils.data
from torch import Tensor

from despur.compute.input_batcher import InputBatcher
from despur.specs.extras import name_extra
from despur.specs.names import parse
from despur.specs.paths import ResultPath, data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.specs.stages import PARTS, STAGES
from despur.storage.dataset_checks import build_dataset
from despur.storage.digest import cache_key
from despur.storage.finished_runs import read_metrics
from despur.storage.store import Array, Dataset, InputError, atomic

if TYPE_CHECKING:
    import pandas as pd

OWN = "bring_your_own"  # the data set of a user's own files
KEY = "made_by_train.json"  # the cache key of a folder that :func:`train` made


class SplitDataset(torch.utils.data.Dataset[tuple[Tensor, int, int]]):
    """The samples of one split: (input, class, attribute) of each.

    Inputs are as encoders see them: images float (C,H,W) in [-1,1], cropped at the center; embeddings (D,); tokens
    (T,). Classes and attributes are positions in ``classes`` and ``attributes``; -1: not known. ``group_mask``: bool
    (N,G), the class-attribute groups called ``groups``."""

    def __init__(self, stored: Dataset, name: str, root: Path, split: str) -> None:
        self.stored, self.name, self.root = stored, name, root
        self.rows = stored.rows(split)
        self.classes, self.attributes = stored.about["classes"], stored.about["attributes"]
        self.groups = stored.about["groups"]
        self.group_mask: Array = np.empty(0) if stored.groups is None else stored.groups[self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, position: int) -> tuple[Tensor, int, int]:
        row = int(self.rows[position])
        kept = torch.from_numpy(np.array(self.stored.inputs[row : row + 1]))
        batcher = InputBatcher(kept, self.stored.about.get("size", 0))
        shown = batcher.batch(np.zeros(1, int), np.random.default_rng(0))[0]
        return shown, int(self.stored.y[row]), int(self.stored.a[row])


@name_extra()
def dataset(name: str, root: str | Path | None = None, split: str = "train") -> SplitDataset:
    """A split of a data set with settings if you like (``cmnist+p_corr=0.9``), built in memory.

    ``root``: the folder of raw files (default: DESPUR_DATA_ROOT, or data); bundled data sets need none. Raises
    InputError where raw files are missing, SettingError for a name, setting or split that does not exist.

    >>> import despur
    >>> digits = despur.dataset("colored_digits", split="test")
    >>> image, y, a = digits[0]
    >>> image.shape, digits.classes[y], digits.attributes[a]
    (torch.Size([3, 32, 32]), '0,1', 'color 0')
    >>> len(digits), digits.group_mask.shape
    (2250, (2250, 25))
    """
    points = resolve("datasets", name).points
    if len(points) > 1 or points[0].source:
        raise SettingError(f"{name}: one data set of raw files, not several and not representations of a model")
    folder = Path(root) if root else data_root()
    stored = build_dataset(points[0], folder)
    if split not in stored.splits:
        raise SettingError(f"{name} has no split {split}; it has {', '.join(stored.splits)}")
    return SplitDataset(stored, points[0].name, folder, split)


@name_extra()
def train(
    method: str,
    data: "str | SplitDataset | Mapping[str, torch.utils.data.Dataset[Any]]",
    seeds: int = 1,
    results: str | Path | None = None,
) -> "pd.DataFrame":
    """Train and evaluate a method with settings if you like (``cnc+temperature=0.05``), as the pipeline does, to the
    digit; returns its metrics: a row for each seed, split, selection, metric and group (docs/metrics.md).

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
    """
    with ExitStack() as stack:
        folder = Path(results or stack.enter_context(tempfile.TemporaryDirectory()))
        name, root = locate_data(data, folder)
        stack.enter_context(patch.dict(os.environ, DESPUR_DATA_ROOT=str(root.resolve())))
        run = spell_run(folder, method, name, seeds)
        for result in list_unmade(run):
            run_program(result.stage, result)
        run_program("evaluate", run)
        return read_metrics(run.folder / "metrics.csv")


def locate_data(
    data: str | SplitDataset | Mapping[str, torch.utils.data.Dataset[Any]], folder: Path
) -> tuple[str, Path]:
    """The name of a data set and the folder of its raw files; data of one's own is written below ``folder``."""
    if isinstance(data, str):
        return data, data_root()
    if isinstance(data, SplitDataset):
        return data.name, data.root
    if not isinstance(data, Mapping):
        raise SettingError(f"data is {type(data).__name__}: name a data set, or bring {{'train': ..., 'val': ...}}")
    arrays = collect_arrays(data)
    name = f"own_{hashlib.sha256(b''.join(array.tobytes() for array in arrays.values())).hexdigest()[:8]}"
    root = folder / "own_data"
    (root / OWN).mkdir(parents=True, exist_ok=True)
    if not (file := root / OWN / f"{name}.npz").exists():
        with atomic(file) as temporary, temporary.open("wb") as opened:
            np.savez(opened, **arrays)  # type: ignore[arg-type]
    return f"{OWN}+name={name}", root


def collect_arrays(splits: Mapping[str, torch.utils.data.Dataset[Any]]) -> dict[str, Array]:
    """The arrays of a file of one's own data (docs/your_own_data.md)."""
    samples = [(split, *values) for split, every in splits.items() for values in every]  # type: ignore[attr-defined]
    if not samples or any(len(sample) != 4 for sample in samples):
        raise SettingError("each sample is (input, class, attribute); -1 is an attribute that is not known")
    names, inputs, y, a = zip(*samples, strict=True)
    stored = [store_input(np.asarray(each)) for each in inputs]
    if len({each.shape for each in stored}) > 1:
        raise InputError(f"inputs have the shapes {sorted({each.shape for each in stored})}: bring one shape")
    return {"features": np.stack(stored), "y": np.array(y), "a": np.array(a), "split": np.array(names)}


def store_input(given: Array) -> Array:
    """An input as files keep it: an embedding as it is, an image as uint8 (H,W,C)."""
    if given.ndim == 3 and given.dtype.kind == "f":
        if given.min() < 0 or given.max() > 1:
            raise InputError(f"an image has values from {given.min():g} to {given.max():g}: float images are in [0,1]")
        return np.rint(given.transpose(1, 2, 0) * 255).astype(np.uint8)
    return given


def spell_run(folder: Path, method: str, data: str, seeds: int) -> ResultPath:
    """The folder of the runs of a method on a data set. Raises SettingError for names and settings that do not
    exist."""
    dataset = resolve("datasets", data).name
    name = resolve("methods", method, parse(dataset)[0]).name
    if seeds < 1:
        raise SettingError(f"seeds {seeds}: one or more")
    return ResultPath(folder, "runs", dataset, name, f"s0-{seeds - 1}" if seeds > 1 else "s0")


def list_unmade(result: ResultPath) -> Iterator[ResultPath]:
    """The results that are to be made, each after those that it reads, by the time it is asked for the next one."""
    below = [] if result.stage == "data" else [result.data]
    for earlier in (*below, *(each for part in PARTS for each in result.upstream(part))):
        yield from list_unmade(earlier)
    key, kept = cache_key.__wrapped__(result), result.folder / KEY  # not what it was before raw files changed
    if not kept.exists() or kept.read_text() != key:
        yield result
        kept.write_text(key)


def run_program(stage: str, result: ResultPath) -> None:
    """Run the program of a stage. Its warnings are warnings here; what it refuses is an error."""
    command = [sys.executable, "-m", f"despur.{STAGES[stage].program}", str(result.folder)]
    done = subprocess.run(command, capture_output=True, text=True)
    for line in done.stdout.splitlines():
        if line.startswith("warning: "):
            warnings.warn(line.removeprefix("warning: "), stacklevel=3)
    if done.returncode:
        said = done.stderr.strip() or f"{result.folder}: the program of {stage} ended with {done.returncode}"
        raise SettingError(said.rpartition("\nerror: ")[2].removeprefix("error: "))
