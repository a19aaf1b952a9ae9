"""imSitu: what people do in photographs, in 12 coarse classes, gender as the protected attribute (Shen et al. 2021,
Experiment 4).

Under ``imsitu/``: the tables that ``imsitu_images`` reads, and ``SPLIT.npy``, row by row vectors of a ResNet-50
fine-tuned on the task; or, in the place of both, ``verb_full_SPLIT_df.pickle`` (train, val, test), the pickled tables
that the released code reads. Or, with features=embedded, the photographs: as in the paper, a ResNet-50 is fine-tuned
first (``head_first`` on ``imsitu_images``; seed 0) and then fixed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from despur.datasets.imsitu_images import SPLITS, photographs
from despur.datasets.sources import embedding_files, metadata_tables
from despur.datasets.sources.pickled_tables import stack_cells
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, component
from despur.storage.store import Array, Dataset

SETTINGS = {
    "features": choice(
        "vectors", "Experiment 4: of a ResNet-50; embedded: by one that is fine-tuned here first", "vectors", "embedded"
    ),
    "source": component(
        "datasets", "imsitu_images", "with features=embedded: what the model behind them is trained on, and encodes"
    ),
}

PAPER_HYPERPARAMETERS = {"*": read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"]}

PUBLISHED_SIZES = read_declarations("datasets", "imsitu_images")["PUBLISHED_SIZES"]

RAW_WITH = {
    "features=vectors": (
        "imsitu/train.parquet | imsitu/train.csv | imsitu/verb_full_train_df.pickle",
        "imsitu/dev.parquet | imsitu/dev.csv | imsitu/verb_full_val_df.pickle",
        "imsitu/test.parquet | imsitu/test.csv | imsitu/verb_full_test_df.pickle",
        # the first, where there is one
        "imsitu/classes.csv | imsitu/train.parquet | imsitu/train.csv | imsitu/verb_full_train_df.pickle",
        "imsitu/train.npy | imsitu/verb_full_train_df.pickle",
        "imsitu/dev.npy | imsitu/verb_full_val_df.pickle",
        "imsitu/test.npy | imsitu/verb_full_test_df.pickle",
    ),
    "features=embedded": read_declarations("datasets", "imsitu_images")["RAW"],
}
BY_HAND = read_declarations("datasets", "imsitu_images")["BY_HAND"]
SOURCE = read_declarations("datasets", "imsitu_images")["SOURCE"]
LICENSE = read_declarations("datasets", "imsitu_images")["LICENSE"]
PICKLES = {split: f"verb_full_{split.replace('dev', 'val')}_df.pickle" for split in SPLITS}


def read_features(path: Path, cells: Iterable[Any]) -> Array:
    """Vectors (N,D) of a pickle."""
    return stack_cells(path, cells, 2).astype(np.float32)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Vectors of your own; those of a ResNet-50 that is fine-tuned here are put in place by the data stage."""
    folder = data_root / "imsitu"
    table, about, inputs = photographs(folder, PICKLES, "features", read_features)
    if inputs is None:
        remedy = "Encode the photographs, or use features=embedded"
        arrays = [metadata_tables.find(folder, f"{split}.npy", remedy) for split in SPLITS]
        about["sha256"] |= metadata_tables.sha256(*arrays)
        inputs = np.concatenate([np.asarray(embedding_files.read_vectors(path), np.float32) for path in arrays])
    return embedding_files.dataset(folder, inputs, table[["split", "y", "a"]], about)
