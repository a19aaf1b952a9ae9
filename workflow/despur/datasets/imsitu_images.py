"""imSitu's photographs, for the ResNet-50 that is fine-tuned first and then represents them in ``imsitu`` (Shen et al.
2021, Experiment 4).

Under ``imsitu/``, for each of train, dev and test: ``SPLIT.parquet`` (or .csv) with columns image, gender, and class
or verb; where it is the verb, ``classes.csv`` (verb, class) says which of the coarse classes each belongs to: the
paper's grouping by FrameNet is not published. And the photographs, under ``images/``."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files
from despur.specs.declarations import declared
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError

SETTINGS = {"size": int_(224, "side of the square that an encoder sees; ResNet-50", at_least=8)}

BASE = "head_first"  # what represents them in ``imsitu``; the other methods train all layers from the start

# Experiment 4, second phase. Patience 5 is of all experiments; "the best-performing snapshot evaluated on the dev set".
PAPER_HYPERPARAMETERS = {
    "*": {
        "encoder": "resnet50",
        "optimizer": "adam",
        "learning_rate": 1e-5,
        "weight_decay": 0.0,
        "batch_size": 64,
        "epochs": 60,
        "patience": 5,
        "criterion": "average_accuracy",
    },
}

RAW = (*declared("datasets", "imsitu")["RAW"], "imsitu/images/*")

GENDERS = ["man", "woman"]
SPLITS = ("train", "dev", "test")


def labels(folder: Path, tables: list[pd.DataFrame], source: Path) -> list[str]:
    """Gives each table its class, and returns the names of all."""
    if any("class" not in table for table in tables):
        path = embedding_files.found(
            folder, "classes.csv", remedy="It says which class each verb belongs to: columns verb, class"
        )
        of = embedding_files.read_table(path, ("verb", "class")).set_index("verb")["class"]
        for table in tables:
            unknown = set(table.get("verb", ["(no column verb)"])) - set(of.index)
            if unknown:
                raise InputError(f"{path} has no class for the verb {min(unknown)}, which {source} has")
            table["class"] = table["verb"].map(of)
    return sorted({str(name) for table in tables for name in table["class"]})


def photographs(folder: Path, *further: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """All three splits one after the other, as they are given: split, y, a, image; and what is known of them and of
    ``further`` files."""
    remedy = "It lists the photographs: columns image, gender, and class or verb"
    files = [embedding_files.found(folder, f"{split}.parquet", f"{split}.csv", remedy=remedy) for split in SPLITS]
    tables = [embedding_files.read_table(path, ("image", "gender")) for path in files]
    classes = labels(folder, tables, files[0])
    joined = pd.concat(
        [table.assign(split=split) for split, table in zip(SPLITS, tables, strict=True)], ignore_index=True
    )
    y, a = (
        embedding_files.coded(joined[column].astype(str), names, column, folder)
        for column, names in (("class", classes), ("gender", GENDERS))
    )
    about = {
        **{"classes": classes, "attributes": GENDERS, "attribute": "gender"},
        **{
            "source": "http://imsitu.org",
            "licence": "see imsitu.org",
            "sha256": embedding_files.sha256(*files, *further),
        },
    }
    return pd.DataFrame({"split": joined["split"], "y": y, "a": a, "image": joined["image"]}), about


def photograph(path: Path, side: int) -> Array:
    """uint8 (side,side,3): the shorter side made ``side`` long, the middle cut out."""
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as image:
            return np.asarray(ImageOps.fit(image.convert("RGB"), (side, side)))
    except OSError as error:
        raise InputError(f"{path} cannot be read as a photograph ({error})") from error


def build(settings: Settings, data_root: Path) -> Dataset:
    """uint8 images (N,size,size,3)."""
    folder, size = data_root / "imsitu", settings["size"]
    table, about = photographs(folder)
    inputs = np.empty((len(table), size, size, 3), np.uint8)
    for row, name in zip(inputs, table["image"], strict=True):
        row[:] = photograph(folder / "images" / name, size)
    return embedding_files.dataset(
        folder, inputs, table[["split", "y", "a"]], {"input": "image", "size": size, "train_crop": "centre", **about}
    )
