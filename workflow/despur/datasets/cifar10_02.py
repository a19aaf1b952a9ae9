"""CIFAR-10.02 (Zhang & Re 2022, Sec. 3.2): CIFAR-10 and a tenth as much of CIFAR-10.2 (Lu et al. 2020); 20 groups,
class x source.

From ``cifar-10-batches-py/`` and ``cifar-10.2/cifar102_train.npz``, ``cifar102_test.npz`` under DESPUR_DATA_ROOT. Our
deviation: the images of CIFAR-10.2 are drawn without replacement; with it, as in the released code, training and
validation would share some."""

from pathlib import Path

import numpy as np

from despur.datasets import cifar10
from despur.datasets.sources import metadata_tables
from despur.datasets.sources.cifar_sources import join_sources, per_class, validate_images
from despur.datasets.sources.embedding_files import NO_ARRAY
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError

DECLARED_LIKE = "cifar10"

SETTINGS = {
    "per_class": int_(
        556, "released code: images of CIFAR-10.2 in each class, a tenth of all", at_least=1, at_most=1000
    )
}

PAPER_HYPERPARAMETERS = read_declarations("datasets", "cifar10_001")["PAPER_HYPERPARAMETERS"]

# Lu et al. 2020: 10,000 + 2,000 images; 10 x 556 are trained and selected on, together with CIFAR-10's 50,000.
PUBLISHED_SIZES = {"train": 44_448, "val": 11_112, "test": 12_000}

RAW = (
    *read_declarations("datasets", "cifar10")["RAW"],
    "cifar-10.2/cifar102_train.npz | cifar-10.2-master/cifar102_train.npz",
    "cifar-10.2/cifar102_test.npz | cifar-10.2-master/cifar102_test.npz",
)
DOWNLOADS = (
    *read_declarations("datasets", "cifar10")["DOWNLOADS"],
    *(
        {
            "url": f"https://github.com/modestyachts/cifar-10.2/raw/master/cifar102_{part}.npz",
            "file": f"cifar-10.2/cifar102_{part}.npz",
            "read_in": "modestyachts/cifar-10.2, README.md",
        }
        for part in ("train", "test")
    ),
)

SOURCE = "https://github.com/modestyachts/cifar-10.2"
REMEDY = f"Put the two files of {SOURCE} into cifar-10.2/ in the folder that DESPUR_DATA_ROOT names"


def read(path: Path) -> tuple[Array, Array]:
    """Images and classes of one of the two files."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return validate_images(path, file["images"], file["labels"], REMEDY)
    except NO_ARRAY as error:
        raise InputError(f"{path} has no images and labels ({error}). {REMEDY}") from error


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given test splits."""
    (images, labels), test = (read(metadata_tables.find(data_root, pattern, REMEDY)) for pattern in RAW[-2:])
    rows = per_class("cifar10_02/train", labels, settings["per_class"])
    first, train = cifar10.build({}, data_root), (images[rows], labels[rows])
    return join_sources(first, "cifar10_02", "CIFAR-10.2", train, test, f"{cifar10.SOURCE}, {SOURCE}")
