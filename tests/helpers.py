"""What several test files share: tiny made-up data, tasks and methods. Deterministic, one thread."""

import resource
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import settings

from despur import groups
from despur.compute.input_batcher import InputBatcher
from despur.compute.task import Stage1Outputs, Task
from despur.evaluate import evaluate
from despur.inference.base import Evidence
from despur.methods.base import Method
from despur.specs.paths import ResultPath, locate_result
from despur.specs.resolution import resolve
from despur.specs.spec import Spec
from despur.storage import raw_files
from despur.storage.store import Dataset, InputError, save_dataset
from despur.training.inputs import load_method_class
from despur.training.runs import train_all

torch.set_num_threads(1)

quick = settings(deadline=None, max_examples=80, derandomize=True, database=None)

CPU = torch.device("cpu")
OPTIONS = Namespace(device="cpu", threads=1, deterministic=False, checkpoint_seconds=1e9, compile="off")


def spec(name: str, dataset: str = "") -> Spec:
    """A single point of a method by name."""
    return resolve("methods", name, dataset).points[0]


def images(count: int, side: int = 34, seed: int = 0) -> np.ndarray:
    """Random uint8 (count,side,side,3), each in a tint of its own."""
    rng = np.random.default_rng(seed)
    return (rng.random((count, side, side, 3)) * rng.uniform(0, 256, (count, 1, 1, 3))).astype(np.uint8)


def labels(sizes: dict[tuple[int, int], int]) -> tuple[np.ndarray, np.ndarray]:
    """Classes and predictions with ``sizes[class, prediction]`` samples each, in that order."""
    pairs = np.concatenate([np.tile(pair, (count, 1)) for pair, count in sizes.items()])
    return pairs[:, 0], pairs[:, 1]


def task(
    y: np.ndarray, groups: np.ndarray | None = None, *, side: int = 34, crop: str = "centre", device: torch.device = CPU
) -> Task:
    """A training set of random images with these labels and groups."""
    batcher = InputBatcher(torch.from_numpy(images(len(y), side)).to(device), 32, crop)
    return Task(batcher, np.asarray(y), int(y.max()) + 1, device, groups)


def embedded(
    y: np.ndarray, groups: np.ndarray | None = None, z: np.ndarray | None = None, *, seed: int = 0, dim: int = 12
) -> Task:
    """A training set of embeddings: ``z`` (N,D), or random ones that tell class and groups linearly."""
    if z is None:
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(len(y), dim))
        z[:, 0] += 2 * y
        z[:, 1:4] += 0 if groups is None else 1.5 * groups[:, None]
    return Task(InputBatcher(torch.from_numpy(z.astype(np.float32))), np.asarray(y), int(y.max()) + 1, CPU, groups)


def biased(count: int = 240) -> Task:
    """A training set of embeddings of two classes, whose attribute agrees in four of five samples, as Moji's."""
    y = np.arange(count) % 2
    return embedded(y, np.where(np.random.default_rng(0).random(count) < 0.8, y, 1 - y))


def embedded_by_a_foundation_model(
    count: int = 90, classes: int = 3, dim: int = 10, right: float = 0.7, prompts: np.ndarray | None = None
) -> Task:
    """Unit embeddings (N,D), class embeddings near their class, and predictions of which a share is ``right``."""
    rng = np.random.default_rng(0)
    y = np.arange(count) % classes
    z = rng.normal(size=(count, dim)) + 2 * np.eye(classes, dim)[y]
    z = (z / np.linalg.norm(z, axis=1, keepdims=True)).astype(np.float32)
    head = np.eye(classes, dim, dtype=np.float32)
    predicted = np.where(rng.random(count) < right, y, (y + 1) % classes)
    stage1_outputs = Stage1Outputs(z @ head.T, head, prompts)
    return Task(InputBatcher(torch.from_numpy(z)), y, classes, CPU, predicted, stage1_outputs=stage1_outputs)


def build(name: str, of: Task, seed: int = 0) -> Method:
    """A freshly initialized method on a task."""
    torch.set_num_threads(1)  # again: importing UMAP after scikit-learn's clusterings undoes it
    torch.manual_seed(seed)
    return load_method_class(name.split("+")[0])(of, spec(name))


OPENED: list[Path] = []
sys.addaudithook(
    lambda event, said: OPENED.append(Path(said[0])) if event == "open" and isinstance(said[0], str | Path) else None
)


def image(file: Path) -> bool:
    """Whether it is one of many files of which only the folder is looked at."""
    return file.suffix.lower() in (".jpg", ".jpeg", ".png")


def read(name: str, root: Path = Path("nowhere")) -> Dataset:
    """A data set from raw files. What it opens (parquet is read elsewhere) is what its file declares: else a changed
    file is not seen."""
    (point,) = resolve("datasets", name).points
    OPENED.clear()
    made = import_module(f"despur.datasets.{point.base_name}").build(point.settings, root)
    chosen = {pattern: raw_files.choose_alternative(pattern, root) for pattern in raw_files.list_patterns(point)}
    found = {pattern: sorted(root.glob(each)) if each else [] for pattern, each in chosen.items()}
    assert raw_files.is_downloaded(point) or all(found.values()), (
        f"{name}: nothing matches {[p for p in found if not found[p]]}"
    )
    many, one = (
        {file for p in found for file in found[p] if chosen[p].endswith(raw_files.FOLDERS) == folder}
        for folder in (True, False)
    )
    opened = {file for file in OPENED if file.is_relative_to(root) and "weights" not in file.parts}
    undeclared = {file for file in opened if file not in one and not (image(file) and many & {file, *file.parents})}
    assert not undeclared, f"{name} reads {undeclared}, which its RAW does not declare"
    return made


def fails(name: str, root: Path, *words: str, make: bool = False) -> None:
    """The data set cannot be built, or with ``make`` not be written either; the message says these words."""
    with pytest.raises(InputError) as error:
        dataset = read(name, root)
        if make:
            save_dataset(root / "out", {name: dataset})
    for word in words:
        assert word in str(error.value)


def some(values: Any, where: Any, value: Any) -> np.ndarray:
    """A copy of an array with other values at some places."""
    copy = np.array(values)
    copy[where] = value
    return copy


def well_formed(dataset):
    """Whatever the data set: what the stages rely on; and it is the same after a round trip."""
    assert set(dataset.splits) == {"train", "val", "test"} and len(dataset.inputs) == len(dataset.table)
    assert dataset.about["select"] == "val" and dataset.about["headline"] == "test" and dataset.about["sha256"]
    assert dataset.groups.shape == (
        len(dataset.table),
        len(dataset.about["classes"]) * len(dataset.about["attributes"]),
    )
    return dataset


def walk(method: Method, epochs: int) -> Iterator[tuple[int, np.ndarray]]:
    """Epochs and batches; the method is told how many steps are done, as the training loop tells it."""
    method.steps_done = 0
    for epoch in range(epochs):
        for batch in method.epoch_batches(np.random.default_rng(epoch)):
            yield epoch, batch
            method.steps_done += 1


def tiny_dataset(train: int = 60, held_out: int = 30, seed: int = 0) -> Dataset:
    """Images whose brightness tells the attribute; in training it mostly follows the class."""
    rng = np.random.default_rng(seed)
    split = np.array(["train"] * train + ["val"] * held_out + ["test"] * held_out)
    y = np.arange(len(split)) % 5
    a = np.where((split == "train") & (rng.random(len(y)) < 0.8), y, rng.integers(0, 5, len(y)))
    pixels = rng.integers(0, 60, (len(y), 36, 36, 3)) + 30 * a[:, None, None, None]
    pixels[..., 0] += (15 * y)[:, None, None]
    table = pd.DataFrame({"split": split, "y": y, "a": a, "original": np.arange(len(y))})
    about = {
        "size": 32,
        "train_crop": "image",
        "test_crop": "centre",
        "classes": [f"class {i}" for i in range(5)],
        "attribute": "color",
        "attributes": [f"color {i}" for i in range(5)],
        "select": "val",
        "headline": "test",
    }
    return Dataset(pixels.astype(np.uint8), table, about)


def result(root: Path, path: str) -> ResultPath:
    """A result path below a root."""
    return locate_result(root / path)


def save_tiny(root: Path, **sizes: int) -> Dataset:
    """Write made-up samples where the results of ``colored_digits`` are looked for."""
    dataset = tiny_dataset(**sizes)
    save_dataset(root / "data" / "colored_digits", {"colored_digits": dataset})
    return dataset


def finish_run(root: Path, path: str) -> ResultPath:
    """Train and evaluate a run, after what it reads and what is not made yet."""
    where = result(root, path)
    for stage, make in (("stage1", train_all), ("groups", groups.infer)):
        for earlier in where.upstream(stage):
            if not (earlier.folder / "about.json").exists():
                make(earlier, OPTIONS)
    train_all(where, OPTIONS)
    evaluate(where, OPTIONS)
    return where


def evidence(y: Any, seed: int = 0, **fields: Any) -> Evidence:
    """What an inference is given of training samples of these classes."""
    y = np.asarray(y)
    return Evidence(y, int(y.max()) + 1, np.random.default_rng(seed), seed, **fields)


@contextmanager
def limited(size: int) -> Iterator[None]:
    """No file may become larger than ``size`` bytes: as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def within(share: float, expected: float, count: int) -> bool:
    """Whether a share of ``count`` draws lies within four standard deviations."""
    return bool(abs(share - expected) <= 4 * np.sqrt(expected * (1 - expected) / count))
