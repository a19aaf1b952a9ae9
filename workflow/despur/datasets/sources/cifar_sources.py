"""CIFAR-10 together with a later collection of the same classes: where an image comes from is its group (Zhang & Re
2022, Sec. 3.2)."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import image_files
from despur.storage.store import Array, Dataset, InputError


def validate_images(path: Path | str, images: Array, labels: Array, remedy: str) -> tuple[Array, Array]:
    """Images uint8 (N,32,32,3) and classes 0..9 (N,). Raises InputError for anything else."""
    if images.dtype != np.uint8 or images.shape[1:] != (32, 32, 3) or labels.shape != images.shape[:1]:
        raise InputError(
            f"{path}: images {images.dtype} {images.shape}, labels {labels.shape}; expected uint8 (N,32,32,3), "
            f"(N,). {remedy}"
        )
    if not np.isin(labels, np.arange(10)).all():
        raise InputError(f"{path}: a label is none of 0 to 9. {remedy}")
    return images, labels.astype(np.int64)


def per_class(purpose: str, labels: Array, count: int) -> Array:
    """Rows of ``count`` samples of each class, at random, none twice; all of a class that has fewer."""
    rng = derive_generator(purpose)
    return np.concatenate([rng.permutation(np.flatnonzero(labels == label))[:count] for label in range(10)])


def join_sources(
    first: Dataset, name: str, other: str, train: tuple[Array, Array], test: tuple[Array, Array], source: str
) -> Dataset:
    """CIFAR-10 (``first``) and another source, pooled: 80 % of the training images are for training, the others select
    (released code)."""
    rows_by_split = {split: first.rows(split) for split in ("train", "test")}
    parts = [(np.asarray(first.inputs)[rows], first.y[rows], split, 0) for split, rows in rows_by_split.items()]
    parts += [(*train, "train", 1), (*test, "test", 1)]
    table = pd.concat([pd.DataFrame({"split": split, "y": y, "a": a}) for _, y, split, a in parts], ignore_index=True)
    table["original"] = np.arange(len(table))
    pool = np.flatnonzero(table["split"] == "train")
    table.loc[derive_generator(f"{name}/split").permutation(pool)[: round(0.2 * len(pool))], "split"] = "val"
    about = {
        **image_files.WHOLE_IMAGES,
        "size": 32,
        **{"classes": first.about["classes"], "attributes": ["CIFAR-10", other], "attribute": "source"},
        **{"source": source, "md5": first.about["md5"]},
    }
    return Dataset(np.concatenate([images for images, *_ in parts]), table, about)
