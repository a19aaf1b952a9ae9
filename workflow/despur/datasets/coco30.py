"""COCO with one object an image, of 30 categories (Lin et al. 2014; Qiang et al. 2022, Sec. 6.2, the toy experiments).

From ``coco/`` under DESPUR_DATA_ROOT: ``annotations/instances_{train,val}2017.json`` and ``{train,val}2017/``. The
foreground is the area inside the object's box; a foreground image is black outside of it (the paper does not say what
replaces the background)."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image

from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.objects import dataset
from despur.datasets.sources.scenes import without_background
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, int_, without
from despur.storage.store import Array, Dataset, InputError, Lazy

SETTINGS = {
    "size": int_(64, "not stated: pixels a side, as Tiny ImageNet; the shape is not kept", at_least=8),
    "train": choice(
        "full", "Sec. 1, settings 3 and 4: foreground: training images without background", "full", "foreground"
    ),
}

# Of the toy experiments nothing is stated: as on Tiny ImageNet, but for what is of another paper there.
PAPER_HYPERPARAMETERS = without(read_declarations("datasets", "tiny_imagenet")["PAPER_HYPERPARAMETERS"], "wmse")

RAW = (
    "coco/annotations/instances_train2017.json",
    "coco/annotations/instances_val2017.json",
    "coco/train2017/*",
    "coco/val2017/*",
)
DOWNLOADS = tuple(
    {
        "url": f"https://s3.amazonaws.com/images.cocodataset.org/{address}.zip",  # the bucket behind the site
        "into": "coco",
        "brings": f"coco/{folder}",
        "read_in": "download scripts of others on GitHub",
    }
    for address, folder in (
        ("annotations/annotations_trainval2017", "annotations"),
        ("zips/train2017", "train2017"),
        ("zips/val2017", "val2017"),
    )
)

CATEGORIES = [
    "airplane", "banana", "bear", "bed", "bench", "bird", "boat", "broccoli", "bus", "cat", "clock", "cow", "dog",
    "elephant", "fire hydrant", "giraffe", "horse", "motorcycle", "person", "pizza", "scissors", "sink", "stop sign",
    "teddy bear", "toilet", "traffic light", "train", "truck", "vase", "zebra",
]  # fmt: skip
SOURCE = "https://cocodataset.org"
LICENSE = "CC BY 4.0"
REMEDY = f"Get train2017, val2017 and their annotations from {SOURCE} into the folder coco that DESPUR_DATA_ROOT holds"


def objects(folder: Path, part: str) -> pd.DataFrame:
    """Images with exactly one annotated object, if it is of the 30 categories: ``file``, ``y``, and the box in shares
    of the sides, ``left``, ``top``, ``right``, ``bottom``."""
    path = metadata_tables.find(folder, f"annotations/instances_{part}2017.json", REMEDY)
    try:
        annotations = json.loads(path.read_text())
        names = {c["id"]: c["name"] for c in annotations["categories"]}
        marks = pd.DataFrame(
            [(a["image_id"], names[a["category_id"]], *a["bbox"]) for a in annotations["annotations"]],
            columns=["id", "name", "x", "y", "w", "h"],
        )
        shapes = pd.DataFrame(
            [(i["id"], i["file_name"], i["width"], i["height"]) for i in annotations["images"]],
            columns=["id", "file", "width", "height"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} holds no COCO instances ({error!r}). {REMEDY}") from error
    if missing := [name for name in CATEGORIES if name not in names.values()]:
        raise InputError(f"{path} has no category {missing[0]}. {REMEDY}")
    alone = marks[~marks["id"].duplicated(keep=False) & marks["name"].isin(CATEGORIES)].merge(shapes, on="id")
    if alone.empty:
        raise InputError(f"{path}: no image has a single object of the 30 categories. {REMEDY}")
    box = {
        "left": alone["x"] / alone["width"],
        "top": alone["y"] / alone["height"],
        "right": (alone["x"] + alone["w"]) / alone["width"],
        "bottom": (alone["y"] + alone["h"]) / alone["height"],
    }
    return pd.DataFrame(
        {
            "file": [folder / f"{part}2017" / name for name in alone["file"]],
            "y": alone["name"].map(CATEGORIES.index),
            **box,
        }
    )


def box_masks(box: pd.DataFrame, size: int) -> Array:
    """Pixels whose center lies in the box, at least one: bool (N,size,size)."""
    center = (np.arange(size) + 0.5) / size

    def mark_inside(low: str, high: str) -> Array:
        first, last = box[low].to_numpy()[:, None], box[high].to_numpy()[:, None]
        nearest = np.abs(center - (first + last) / 2).argmin(axis=1)[:, None] == np.arange(size)
        return ((center >= first) & (center <= last)) | nearest

    return mark_inside("top", "bottom")[:, :, None] & mark_inside("left", "right")[:, None, :]


def stretch(image: Image.Image, size: int) -> Image.Image:
    """Resized to (size,size), bilinearly; the shape is not kept."""
    return image.resize((size, size), Image.Resampling.BILINEAR)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Training images, full or without background; test images (those of val2017), full and, as test_foreground,
    without."""
    folder, size = data_root / "coco", settings["size"]
    parts = {"train": objects(folder, "train"), "test": objects(folder, "val")}
    parts["test_foreground"] = parts["test"]
    table = pd.concat([part.assign(split=split) for split, part in parts.items()], ignore_index=True)
    bare = (
        (table["split"] == "test_foreground") | ((table["split"] == "train") & (settings["train"] == "foreground"))
    ).to_numpy()
    full = image_files.images(list(table["file"]), size, stretch, REMEDY)

    def make(rows: slice) -> Array:
        masks = box_masks(table.iloc[rows], size)
        return without_background(full[rows], masks | ~bare[rows][:, None, None])

    masks = Lazy((len(table), size, size), bool, lambda rows: box_masks(table.iloc[rows], size))
    made = dataset(Lazy(full.shape, np.uint8, make), table["split"], table["y"], CATEGORIES)
    made.table["original"] = table.groupby("file").ngroup().to_numpy()
    made.masks = masks
    return made
