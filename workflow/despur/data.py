"""Data stage: build a data set into results/data/DATASET (inputs.npy, masks.npy, table.parquet, groups.npz,
about.json).

    python -m despur.data results/data/colored_digits
"""

import argparse
import dataclasses
from pathlib import Path

import numpy as np

from despur.specs.declarations import find_component
from despur.specs.paths import ResultPath, data_root
from despur.specs.spec import Spec
from despur.storage import raw_files
from despur.storage.containers import Container
from despur.storage.dataset_checks import build_dataset, validate
from despur.storage.provenance import run_from_command_line
from despur.storage.store import Dataset, load_dataset, save_dataset

INPUT_KEYS = ("size", "train_crop", "test_crop", "words", "vocabulary")  # keys that describe the stored images or texts


def build(result: ResultPath, arguments: argparse.Namespace) -> None:
    """Build all data sets of the sweep, one after the other."""
    sweep = result.datasets
    points: dict[str, Dataset] = {}
    for point in sweep.points:
        raw = raw_files.identify_files(point, arguments.data_root)
        dataset = (
            validate(find_component("datasets", point.base_name), embed(result, point.source))
            if point.source
            else build_dataset(point, arguments.data_root)
        )
        dataset.about["raw"] = raw
        points[point.name] = dataset
    save_dataset(result.folder, points)


def embed(result: ResultPath, source: Spec) -> Dataset:
    """A data set whose inputs are the representations of its stage-1 model's best step: float32 (N,D)."""
    (stage1,) = (up for up in result.upstream("stage1") if up.dataset == source.name)
    (run,) = stage1.runs()
    given, z = (
        load_dataset(stage1.data.folder, source.name),
        Container(stage1.folder / "outputs.safetensors")[f"{run.key}/best/z"],
    )
    about = {key: value for key, value in given.about.items() if key not in INPUT_KEYS}
    return dataclasses.replace(given, inputs=z.astype(np.float32), about=about, masks=None)


if __name__ == "__main__":
    run_from_command_line(
        __doc__ or "",
        build,
        (
            "--data-root",
            {"type": Path, "default": data_root(), "help": "where raw data lies (default: DESPUR_DATA_ROOT, or data)"},
        ),
    )
