"""STL-10 (Coates et al. 2011; Qiang et al. 2022, Sec. 6.1): ten classes, 5,000 + 8,000 images of 96x96, and 100,000
without labels.

From ``stl10_binary/`` under DESPUR_DATA_ROOT, as torchvision unpacks it. Methods without labels are trained on all
105,000 training images."""

from pathlib import Path

import numpy as np
from PIL import Image

from despur.datasets.sources import metadata_tables
from despur.datasets.sources.objects import dataset, verify_checksum
from despur.specs.selfsupervised_hyperparameters import NT_XENT
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError, Lazy

SETTINGS = {"size": int_(64, "W-MSE's released code trains and tests at 64; the images have 96 (Sec. 6.1)", at_least=8)}

PAPER_HYPERPARAMETERS = {  # Sec. 6.2; augmentations: not stated, as on CIFAR
    "*": {"encoder": "resnet18", "learning_rate": 2e-3, "projector_dim": 128, "epochs": 2000},
    "simclr": {**NT_XENT, "batch_size": 512, "projector_dim": 128},
    "wmse": {"slice": 256, "slicings": 4},  # Sec. 4 of Ermolov et al.
    "images": {"crop_scale": 0.2, "flip": 0.5, "blur": 0.0, "color_jitter": 0.5, "grayscale": 0.1},
    "linear_classifier": {"learning_rate": 0.01, "epochs": 500},
    "fine_tuning": {"learning_rate": 0.8, "epochs": 30},
}

RAW = (
    "stl10_binary/train_X.bin",
    "stl10_binary/train_y.bin",
    "stl10_binary/unlabeled_X.bin",
    "stl10_binary/test_X.bin",
    "stl10_binary/test_y.bin",
    "stl10_binary/class_names.txt",
)
DOWNLOADS = (  # the binary version
    {
        "checksum": "md5:91f7769df0f17e558f3565bffb0c7dfb",
        "brings": "stl10_binary",
        "read_in": "pytorch/vision, torchvision/datasets/stl10.py",
    },
)

CLASSES, SIDE = 10, 96
MD5 = {
    "train_X.bin": "918c2871b30a85fa023e0c44e0bee87f",
    "train_y.bin": "5a34089d4802c674881badbb80307741",
    "unlabeled_X.bin": "5242ba1fed5e4be9e1e742405eb56ca4",
    "test_X.bin": "7f263ba9f9e0b06b93213547f721ac82",
    "test_y.bin": "36f9794fa4beb8a2c72628de14fa638e",
}
SOURCE = "https://ai.stanford.edu/~acoates/stl10/stl10_binary.tar.gz"
LICENSE = "not stated; from ImageNet"
REMEDY = f"Download {SOURCE} and unpack it (again) into the folder that DESPUR_DATA_ROOT names"


def resized(pixels: Array, size: int) -> Array:
    """An image as it is stored, (3, columns, rows), as (size,size,3)."""
    return np.asarray(Image.fromarray(pixels.transpose(2, 1, 0)).resize((size, size), Image.Resampling.BICUBIC))


def build(settings: Settings, data_root: Path) -> Dataset:
    """The given splits; the unlabeled images are a split of their own."""
    size, folder = settings["size"], data_root / "stl10_binary"
    files = {name: verify_checksum(folder / name, md5, REMEDY) for name, md5 in MD5.items()}
    stored = {split: np.memmap(files[f"{name}_X.bin"], np.uint8, "r").reshape(-1, 3, SIDE, SIDE) for split, name in
              (("train", "train"), ("unlabelled", "unlabeled"), ("test", "test"))}  # fmt: skip
    y = {split: np.fromfile(files[f"{split}_y.bin"], np.uint8).astype(int) - 1 for split in ("train", "test")}
    y["unlabelled"] = np.full(len(stored["unlabelled"]), -1)
    for split, labels in y.items():
        if len(labels) != len(stored[split]):
            raise InputError(f"{folder}: {len(stored[split])} {split} images, but {len(labels)} labels. {REMEDY}")
    where = [(split, i) for split, part in stored.items() for i in range(len(part))]

    def make(rows: slice) -> Array:
        return np.stack([resized(stored[split][i], size) for split, i in where[rows]])

    names = metadata_tables.find(data_root, "stl10_binary/class_names.txt", REMEDY)
    classes = metadata_tables.read_words(names, REMEDY)
    if len(classes) != CLASSES:
        raise InputError(f"{names} has {len(classes)} names, not one for each of {CLASSES} classes. {REMEDY}")
    return dataset(
        Lazy((len(where), size, size, 3), np.uint8, make),
        [split for split, _ in where],
        np.concatenate([y[split] for split in stored]),
        classes,
        md5=MD5,
    )
