"""imSitu's photographs, for the ResNet-50 that is fine-tuned first and then represents them in ``imsitu`` (Shen et al.
2021, Experiment 4).

Under ``imsitu/``, for each of train, dev and test: ``SPLIT.parquet`` (or .csv) with columns image, gender, and class
or verb; where it is the verb, ``classes.csv`` (verb, class) says which of the coarse classes each belongs to: the
paper's grouping by FrameNet is not published. And the photographs, under ``images/``. Or, in the place of all of them,
``imsitu_SPLIT_df.pkl``, the pickled tables that fairlib reads."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image, ImageOps

from despur.datasets.sources import embedding_files, image_files, metadata_tables
from despur.datasets.sources.pickled_tables import stack_cells
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError

SETTINGS = {"size": int_(224, "side of the square that an encoder sees; ResNet-50", at_least=8)}

BASE = "head_first"  # what represents them in ``imsitu``; the other methods train all layers from the start

# Experiment 4, second phase. Patience 5 is of all experiments; "the best-performing snapshot evaluated on the dev set".
PAPER_HYPERPARAMETERS = {
    "*": {
        **read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"],
        "encoder": "resnet50",
        "learning_rate": 1e-5,
        "batch_size": 64,
        "criterion": "average_accuracy",
    }
}

PUBLISHED_SIZES = {"train": 12e3, "val": 3e3, "test": 2e3}  # Shen et al. 2021, Experiment 4: rounded

RAW = (
    "imsitu/train.parquet | imsitu/train.csv | imsitu/imsitu_train_df.pkl",
    "imsitu/dev.parquet | imsitu/dev.csv | imsitu/imsitu_dev_df.pkl",
    "imsitu/test.parquet | imsitu/test.csv | imsitu/imsitu_test_df.pkl",
    # the first, where there is one
    "imsitu/classes.csv | imsitu/train.parquet | imsitu/train.csv | imsitu/imsitu_train_df.pkl",
    "imsitu/images/* | imsitu/imsitu_train_df.pkl",
)
BY_HAND = (
    "get the images and annotations by http://imsitu.org, and put them into imsitu/ as the text above says; no address "
    "of single files is published"
)

SOURCE = "http://imsitu.org"
LICENSE = "see imsitu.org"
GENDERS = ["man", "woman"]  # in pickles 0 and 1
SPLITS = ("train", "dev", "test")
PICKLES = {split: f"imsitu_{split}_df.pkl" for split in SPLITS}
# torchvision's, of ImageNet's channels. fairlib's pictures are inputs of a ResNet; that they are standardized so is an
# assumption, which read_pixels checks.
MEAN, DEVIATION = (np.array(values).reshape(3, 1, 1) for values in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
REMEDY = "It lists the photographs: columns image, gender, and class or verb"


def labels(folder: Path, tables: list[pd.DataFrame], files: Sequence[Path]) -> list[str]:
    """Gives each table its class, and returns the names of all."""
    if any("class" not in table for table in tables):
        remedy = "It says which class each verb belongs to: columns verb, class"
        path = metadata_tables.find(folder, "classes.csv", remedy)
        of = embedding_files.read_table(path, ("verb", "class")).set_index("verb")["class"]
        for source, table in zip(files, tables, strict=True):
            unknown = set(table.get("verb", ["(no column verb)"])) - set(of.index)
            if unknown:
                raise InputError(f"{path} has no class for the verb {min(unknown, key=str)}, which {source} has")
            table["class"] = table["verb"].map(of)
    return sorted({str(name) for table in tables for name in table["class"]})


def photographs(
    folder: Path, pickles: Mapping[str, str], column: str, prepare: Callable[[Path, Iterable[Any]], Array]
) -> tuple[pd.DataFrame, dict[str, Any], Array | None]:
    """All three splits one after the other, as they are given: split, y, a, image; what is known of them; and, of
    ``pickles`` (names by split), what ``prepare`` makes of their ``column`` of inputs."""
    tabled = any((folder / f"train.{kind}").exists() for kind in ("parquet", "csv"))
    pickled = not tabled and (folder / pickles["train"]).exists()
    parts = [read_pickle(folder, pickles[s], column, prepare) if pickled else read_table(folder, s) for s in SPLITS]
    files, tables, inputs = zip(*parts, strict=True)
    classes = labels(folder, list(tables), files)
    joined = pd.concat(
        [table.assign(split=split) for split, table in zip(SPLITS, tables, strict=True)], ignore_index=True
    )
    y, a = (
        embedding_files.encode_labels(joined[name].astype(str), names, name, embedding_files.list_files(files))
        for name, names in (("class", classes), ("gender", GENDERS))
    )
    about = {
        **{"classes": classes, "attributes": GENDERS, "attribute": "gender"},
        "sha256": metadata_tables.sha256(*files),
    }
    table = pd.DataFrame({"split": joined["split"], "y": y, "a": a, "image": joined["image"]})
    return table, about, np.concatenate(inputs) if pickled else None


def read_table(folder: Path, split: str) -> tuple[Path, pd.DataFrame, None]:
    """A split's file and table."""
    path = metadata_tables.find(folder, f"{split}.parquet | {split}.csv", REMEDY)
    table = embedding_files.read_table(path, ("image", "gender"))
    if not {"class", "verb"} & set(table):
        raise InputError(f"{path} has no column class or verb; it has {', '.join(map(str, table.columns))}. {REMEDY}")
    return path, table, None


def read_pickle(
    folder: Path, name: str, column: str, prepare: Callable[[Path, Iterable[Any]], Array]
) -> tuple[Path, pd.DataFrame, Array]:
    """A split's file, table and inputs."""
    path = metadata_tables.find(folder, name, "Put the pickles of all three splits there")
    table = embedding_files.read_table(path, (column, "verb", "gender"))
    named = table["gender"].map(dict(enumerate(GENDERS))).fillna(table["gender"])
    return path, pd.DataFrame({"image": "", "class": table["verb"], "gender": named}), prepare(path, table[column])


def read_pixels(path: Path, cells: Iterable[Any]) -> Array:
    """uint8 (N,H,W,3) of images (3,H,W) that were standardized by ImageNet's mean and deviation. Raises InputError if
    they were not."""
    images = []
    for image in stack_cells(path, cells, 4):
        shares = image * DEVIATION + MEAN
        if image.shape[0] != 3 or shares.min() < -0.01 or shares.max() > 1.01:
            raise InputError(f"{path}: images are not (3,H,W), standardized by ImageNet's mean and deviation")
        images.append((255 * shares.clip(0, 1)).round().astype(np.uint8).transpose(1, 2, 0))
    return np.stack(images)


def fit(image: Image.Image, size: int) -> Image.Image:
    """The shorter side made ``size`` long, and the middle cut out."""
    return ImageOps.fit(image, (size, size))


def build(settings: Settings, data_root: Path) -> Dataset:
    """uint8 images (N,size,size,3): of photographs the shorter side made ``size`` long and the middle cut out, when
    they are sliced; those of pickles as they are."""
    folder, size = data_root / "imsitu", settings["size"]
    table, about, pixels = photographs(folder, PICKLES, "transformed_images", read_pixels)
    if pixels is not None and pixels.shape[1:3] != (size, size):
        shape = pixels.shape[1:3]
        raise InputError(f"{folder / PICKLES['train']}: the images of the pickles are {shape}; use size={shape[0]}")
    files = [folder / "images" / name for name in table["image"]]
    remedy = f"{embedding_files.list_files(folder / name for name in about['sha256'])} list it. Unpack the images anew"
    inputs = pixels if pixels is not None else image_files.images(files, size, fit, remedy)
    about |= {"size": size, "train_crop": "centre"}
    return embedding_files.dataset(folder, inputs, table[["split", "y", "a"]], about)
