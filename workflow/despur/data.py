"""Data stage: build a data set into results/data/DATASET (inputs.npy, masks.npy, table.parquet, groups.npz, about.json).

python -m despur.data results/data/colored_digits
"""

import argparse
import os
from importlib import import_module
from pathlib import Path

from despur.paths import Place
from despur.provenance import entry_point
from despur.store import save_dataset


def build(place: Place, arguments: argparse.Namespace) -> None:
    """Build every point that the name asks for, one after the other."""
    sweep = place.datasets
    module = import_module(f"despur.datasets.{sweep.base}")
    save_dataset(place.folder, {point.name: module.build(point.settings, arguments.data_root) for point in sweep.points})


if __name__ == "__main__":
    entry_point(
        __doc__ or "",
        build,
        (
            "--data-root",
            {"type": Path, "default": Path(os.environ.get("DESPUR_DATA_ROOT", "data")), "help": "where raw data lies (default: data)"},
        ),
    )
