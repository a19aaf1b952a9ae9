"""CIFAR-10 together with a later collection of the same classes: where an image comes from is its group (Zhang & Re 2022, Sec. 3.2)."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.randomness import generator
from despur.sources.objects import read_cifar
from despur.store import Array, Dataset, InputError

SPLITS = {
    "train": {
        "data_batch_1": "c99cafc152244af753f735de768cd75f",
        "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
        "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
        "data_batch_4": "634d18415352ddfa80567beed471001a",
        "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    },
    "test": {"test_batch": "40351d587109b95175f43aff81a1287e"},
}
META = ("batches.meta", "5ff9c542aee3614f3951f8cda6e48888", "label_names")
CIFAR = "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz"
REMEDY = f"Unpack {CIFAR} anew into the folder that DESPUR_DATA_ROOT names"


def checked(path: Path, images: Array, labels: Array, remedy: str) -> tuple[Array, Array]:
    """Images uint8 (N,32,32,3) and classes 0..9 (N,). Raises InputError for anything else."""
    if images.dtype != np.uint8 or images.shape[1:] != (32, 32, 3) or labels.shape != images.shape[:1]:
        raise InputError(f"{path}: images {images.dtype} {images.shape}, labels {labels.shape}; expected uint8 (N,32,32,3), (N,). {remedy}")
    if not np.isin(labels, np.arange(10)).all():
        raise InputError(f"{path}: a label is none of 0 to 9. {remedy}")
    return images, labels.astype(np.int64)


def per_class(purpose: str, labels: Array, count: int) -> Array:
    """Rows of ``count`` samples of each class, at random, none twice; all of a class that has fewer."""
    rng = generator(purpose)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == label))[:count] for label in range(10)])


def together(data_root: Path, name: str, other: str, train: tuple[Array, Array], test: tuple[Array, Array], source: str) -> Dataset:
    """CIFAR-10 and another source, pooled: 80 % of the training images are for training, the others select (released code)."""
    first = read_cifar(data_root / "cifar-10-batches-py", SPLITS, "labels", META, CIFAR, REMEDY)
    own = {split: first.rows(split) for split in ("train", "test")}
    parts = [(np.asarray(first.inputs)[rows], first.y[rows], split, 0) for split, rows in own.items()]
    parts += [(*train, "train", 1), (*test, "test", 1)]
    table = pd.concat([pd.DataFrame({"split": split, "y": y, "a": a}) for _, y, split, a in parts], ignore_index=True)
    table["original"] = np.arange(len(table))
    pool = np.flatnonzero(table["split"] == "train")
    table.loc[generator(f"{name}/split").permutation(pool)[: round(0.2 * len(pool))], "split"] = "val"
    about = {
        **{"size": 32, "train_crop": "centre", "test_crop": "centre", "select": "val", "headline": "test"},
        **{"classes": first.about["classes"], "attributes": ["CIFAR-10", other], "attribute": "source"},
        **{"source": f"{CIFAR}, {source}", "licence": "not stated", "md5": first.about["md5"]},
    }
    return Dataset(np.concatenate([images for images, *_ in parts]), table, about)
