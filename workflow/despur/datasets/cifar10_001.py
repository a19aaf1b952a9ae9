"""CIFAR-10.001 (named as CIFAR-10.02 of Zhang & Re 2022 is): CIFAR-10 and CIFAR-10.1 (Recht et al. 2018); 20 groups,
class x source.

From ``cifar-10-batches-py/`` and ``cifar-10.1/cifar10.1_v6_data.npy``, ``cifar10.1_v6_labels.npy`` under
DESPUR_DATA_ROOT. CIFAR-10.1 is one set of 2,000 images, so it is divided, as in the released code; there training
images are drawn with replacement, here, as for cifar10_02, without."""

from pathlib import Path

import numpy as np

from despur.datasets import cifar10
from despur.datasets.sources import metadata_tables
from despur.datasets.sources.cifar_sources import join_sources, per_class, validate_images
from despur.datasets.sources.embedding_files import read_array
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Dataset

DECLARED_LIKE = "cifar10"

SETTINGS = {
    "per_class": int_(
        102, "released code: images of CIFAR-10.1 in each class, for training and selection", at_least=1, at_most=199
    )
}

# Zhang & Re 2022, released code: of the anchors a tenth an epoch, of each class as many as of the rarest.
PAPER_HYPERPARAMETERS = {
    "contrastive_adapter": {
        "anchor_fraction": 0.1,
        "balance_anchors": True,
        "num_negatives": 512,
        "num_neighbors": 1024,
    }
}

# Recht et al. 2018: 2,000 images, of which 10 x 102 are trained and selected on, together with CIFAR-10's 50,000.
PUBLISHED_SIZES = {"train": 40_816, "val": 10_204, "test": 10_980}

RAW = (
    *read_declarations("datasets", "cifar10")["RAW"],
    *(
        f"cifar-10.1/{file} | CIFAR-10.1/datasets/{file} | CIFAR-10.1-master/datasets/{file}"
        for file in ("cifar10.1_v6_data.npy", "cifar10.1_v6_labels.npy")
    ),
)
DOWNLOADS = (
    *read_declarations("datasets", "cifar10")["DOWNLOADS"],
    *(
        {
            "url": f"https://github.com/modestyachts/CIFAR-10.1/raw/master/datasets/cifar10.1_v6_{part}.npy",
            "file": f"cifar-10.1/cifar10.1_v6_{part}.npy",
            "read_in": "modestyachts/CIFAR-10.1, its list of files",
        }
        for part in ("data", "labels")
    ),
)

SOURCE = "https://github.com/modestyachts/CIFAR-10.1"
REMEDY = (
    f"Put cifar10.1_v6_data.npy and cifar10.1_v6_labels.npy of {SOURCE} into cifar-10.1/ in the folder that "
    "DESPUR_DATA_ROOT names"
)


def build(settings: Settings, data_root: Path) -> Dataset:
    """What of CIFAR-10.1 is not drawn for training is its test split."""
    files = [metadata_tables.find(data_root, pattern, REMEDY) for pattern in RAW[-2:]]
    images, labels = (read_array(file, REMEDY) for file in files)
    images, labels = validate_images(f"{files[0]}, {files[1]}", images, labels, REMEDY)
    rows = per_class("cifar10_001/train", labels, settings["per_class"])
    rest = np.setdiff1d(np.arange(len(labels)), rows)
    parts = (images[rows], labels[rows]), (images[rest], labels[rest])
    return join_sources(
        cifar10.build({}, data_root), "cifar10_001", "CIFAR-10.1", *parts, f"{cifar10.SOURCE}, {SOURCE}"
    )
