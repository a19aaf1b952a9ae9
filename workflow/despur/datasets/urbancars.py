"""UrbanCars (Li et al. 2023, Whac-A-Mole): is a car an urban or a country car? Two shortcuts at once: in 95 % of the
training images the background, and in 95 % an object beside the car, is of the car's kind.

From your copy under DESPUR_DATA_ROOT, as the released code generates it: for each split a folder of each car,
background and object, whose ``.jpg`` are read: masks lie beside them. ``attribute`` chooses what groups are made of."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import image_files, metadata_tables, objects
from despur.specs.settings import Settings, choice, int_
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "size": int_(256, "released code: pixels a side, as generated", at_least=32),
    "attribute": choice(
        "both",
        "Sec. 3: groups of car, background and object; of car and background, or of car and object",
        *("both", "background", "object"),
    ),
}

PAPER_HYPERPARAMETERS = {  # defaults of the released code
    "*": {"encoder": "resnet50", "learning_rate": 1e-3, "weight_decay": 1e-4, "batch_size": 128, "epochs": 300},
    "jtt": {"upsampling": "constant", "factor": 100, "stage1.epochs": 1},
    "mixup": {"alpha": 0.1},
}

RAW = (
    *(
        f"urbancars/bg-0.95_co_occur_obj-0.95/train/obj-{car}_bg-{background}_co_occur_obj-{thing}/**"
        for car in ("urban", "country")
        for background in ("urban", "country")
        for thing in ("urban", "country")
    ),
    *(
        f"urbancars/bg-0.5_co_occur_obj-0.5/{split}/obj-{car}_bg-{background}_co_occur_obj-{thing}/**"
        for split in ("val", "test")
        for car in ("urban", "country")
        for background in ("urban", "country")
        for thing in ("urban", "country")
    ),
)
KINDS = ("urban", "country")
# split, car, background and object of these folders
MEANINGS = tuple(product(("train", "val", "test"), *3 * [range(len(KINDS))]))
PUBLISHED_SIZES = {"train": 8_000, "val": 1_000, "test": 1_000}  # defaults of the released code, which generates it
SOURCE = "https://github.com/facebookresearch/Whac-A-Mole"
LICENSE = "of Stanford Cars, Places and LVIS, of which it is made"
BY_HAND = (
    "its script scripts/prepare_dataset_models/create_urbancars.sh makes the images of Stanford Cars, Places and LVIS"
)
REMEDY = f"Let the code of {SOURCE} make it (again) in urbancars/ in the folder that DESPUR_DATA_ROOT names"


def list_images(data_root: Path) -> pd.DataFrame:
    """Images with split, car, background and object. Raises InputError for a folder without images."""
    rows = []
    for pattern, meaning in zip(RAW, MEANINGS, strict=True):
        folder = metadata_tables.find(data_root, pattern, REMEDY).parent
        files = [file for file in objects.images_in(folder) if file.suffix == ".jpg"]
        if not files:
            raise InputError(f"{folder} has no images. {REMEDY}")
        rows += [(file, *meaning) for file in files]
    return pd.DataFrame(rows, columns=["file", "split", "y", "background", "object"])


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every image is an original."""
    images = list_images(data_root)
    if settings["attribute"] == "both":
        a = images["background"] * len(KINDS) + images["object"]
        attributes = [f"{background} background, {thing} object" for background, thing in product(KINDS, KINDS)]
    else:
        a, attributes = images[settings["attribute"]], [f"{kind} {settings['attribute']}" for kind in KINDS]
    table = images[["split", "y"]].assign(a=a, original=np.arange(len(images)))
    about = {
        **image_files.WHOLE_IMAGES,
        "size": settings["size"],
        "classes": [f"{kind} car" for kind in KINDS],
        "attribute": "surroundings",
        "attributes": attributes,
    }
    pixels = image_files.images(list(images["file"]), settings["size"], image_files.as_clip, REMEDY)
    return Dataset(pixels, table, about)
