"""imSitu: what people do in photographs, in 12 coarse classes, gender as the protected attribute (Shen et al. 2021,
Experiment 4).

Under ``imsitu/``: the tables that ``imsitu_images`` reads, and ``SPLIT.npy``, row by row vectors of a ResNet-50
fine-tuned on the task. Or, with features=embedded, the photographs: as in the paper, a ResNet-50 is fine-tuned first
(``head_first`` on ``imsitu_images``; seed 0) and then fixed."""

from pathlib import Path

import numpy as np

from despur.datasets.imsitu_images import SPLITS, photographs
from despur.datasets.sources import embedding_files
from despur.specs.declarations import declared
from despur.specs.settings import Settings, choice, component
from despur.storage.store import Dataset

SETTINGS = {
    "features": choice(
        "vectors", "Experiment 4: of a ResNet-50; embedded: by one that is fine-tuned here first", "vectors", "embedded"
    ),
    "source": component(
        "datasets", "imsitu_images", "with features=embedded: what the model behind them is trained on, and encodes"
    ),
}

PAPER_HYPERPARAMETERS = {"*": declared("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"]}

RAW = (
    *(
        "imsitu/train.parquet | imsitu/train.csv",
        "imsitu/dev.parquet | imsitu/dev.csv",
        "imsitu/test.parquet | imsitu/test.csv",
    ),
    "imsitu/classes.csv | imsitu/train.parquet | imsitu/train.csv",  # the first, where there is one
)
RAW_WITH = {"features=vectors": ("imsitu/train.npy", "imsitu/dev.npy", "imsitu/test.npy")}


def build(settings: Settings, data_root: Path) -> Dataset:
    """Vectors of your own; those of a ResNet-50 that is fine-tuned here are put in place by the data stage."""
    folder = data_root / "imsitu"
    arrays = [
        embedding_files.found(folder, f"{split}.npy", remedy="Encode the photographs, or use features=embedded")
        for split in SPLITS
    ]
    table, about = photographs(folder, *arrays)
    inputs = np.concatenate([np.asarray(embedding_files.read_vectors(path), np.float32) for path in arrays])
    return embedding_files.dataset(folder, inputs, table[["split", "y", "a"]], {"input": "embedding", **about})
