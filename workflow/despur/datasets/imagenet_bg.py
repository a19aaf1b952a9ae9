"""ImageNet-9 and the Backgrounds Challenge (Xiao et al. 2021; ImageNetBG of SubpopBench, Yang et al. 2023): nine kinds
of things, trained on photos as they are, tested on photos whose background was changed.

From your copies under DESPUR_DATA_ROOT. ``in9l/`` (IN-9L) trains and selects. Test splits, of ``bg_challenge/``: photos
as they are (``test``), and their foregrounds on a background of their own class (``test_mixed_same``), of a random one
(``test_mixed_rand``) or on black (``test_only_fg``), and the photos without them (``test_no_fg``). The accuracy of
``test_mixed_same`` less that of ``test_mixed_rand`` is the paper's BG-gap. No attribute is known: groups are classes.

A photo of ``in9l/`` that is tested on, by its name in ImageNet, is left out."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import image_files, metadata_tables, objects
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Dataset, InputError

SETTINGS = {"size": int_(224, "SubpopBench: pixels a side, out of 256", at_least=32)}

PAPER_HYPERPARAMETERS = {  # SubpopBench's defaults, for about its 10,001 steps
    "*": {"encoder": "resnet50", "learning_rate": 1e-3, "weight_decay": 1e-4, "batch_size": 108, "epochs": 6},
    "afr": read_declarations("datasets", "waterbirds")["PAPER_HYPERPARAMETERS"]["afr"],
}

RAW = tuple(
    f"backgrounds_challenge/{folder}/* | {folder}/*"
    for folder in (
        *("in9l/train", "in9l/val", "bg_challenge/original/val", "bg_challenge/mixed_same/val"),
        *("bg_challenge/mixed_rand/val", "bg_challenge/only_fg/val", "bg_challenge/no_fg/val"),
    )
)
# of these folders
SPLITS = ("train", "val", "test", "test_mixed_same", "test_mixed_rand", "test_only_fg", "test_no_fg")
PUBLISHED_SIZES = {"test": 4_050}  # Xiao et al. 2021, Sec. 2: 450 images a class
SOURCE = "https://github.com/MadryLab/backgrounds_challenge"
LICENSE = "ImageNet: non-commercial research"
DOWNLOADS = (
    {
        "url": "https://www.dropbox.com/s/8w29bg9niya19rn/in9l.tar.gz?dl=1",
        "name": "in9l.tar.gz",
        "into": "backgrounds_challenge",
        "brings": "backgrounds_challenge/in9l",
        "read_in": "MadryLab/backgrounds_challenge, README.md; YyzHarry/SubpopBench, subpopbench/scripts/download.py",
    },
    {
        "url": "https://github.com/MadryLab/backgrounds_challenge/releases/download/data/"
        "backgrounds_challenge_data.tar.gz",
        "into": "backgrounds_challenge",
        "brings": "backgrounds_challenge/bg_challenge",
        "read_in": "YyzHarry/SubpopBench, subpopbench/scripts/download.py",
    },
)
REMEDY = (
    f"Get IN-9L and the data of the release from {SOURCE} and unpack both (again) into backgrounds_challenge/ in the "
    "folder that DESPUR_DATA_ROOT names"
)

CLASSES = (
    *("dog", "bird", "wheeled vehicle", "reptile", "carnivore"),
    *("insect", "musical instrument", "primate", "fish"),
)
# The name of a photo in ImageNet; of two, that of the foreground.
PHOTO = re.compile(r"ILSVRC2012_val_\d+|n\d{8}_\d+")


def name_photo(file: Path) -> str:
    """The photo that an image is, or whose foreground it shows; the file itself where its name does not tell."""
    name = PHOTO.search(file.stem)
    return name[0] if name else str(file)


def list_images(data_root: Path) -> pd.DataFrame:
    """Images with split, class and photo, without those of in9l/ that are tested on. Raises InputError for a photo that
    trains and selects, or whose name does not tell which it is (of variants, it need not)."""
    folders = [f"{number:02d}_{name}" for number, name in enumerate(CLASSES)]
    parts = []
    for split, pattern in zip(SPLITS, RAW, strict=True):
        folder = metadata_tables.find(data_root, pattern, REMEDY).parent
        files = objects.class_folders(folder, folders, REMEDY)
        parts.append(pd.DataFrame(files, columns=["file", "y"]).assign(split=split))
    images = pd.concat(parts, ignore_index=True)
    photo, tested = images["file"].map(name_photo), images["split"].str.startswith("test")
    if (nameless := photo.eq(images["file"].astype(str)) & images["split"].isin(["train", "val", "test"])).any():
        raise InputError(f"{photo[nameless].iloc[0]}: its name is not of ImageNet, so it may train and test. {REMEDY}")
    images = images.assign(photo=photo)[tested | ~photo.isin(set(photo[tested]))].reset_index(drop=True)
    trained, selecting = (images[images["split"] == split] for split in ("train", "val"))
    if len(both := trained[trained["photo"].isin(set(selecting["photo"]))]):
        raise InputError(f"{both['file'].iloc[0]} trains, and a photo of this name selects. {REMEDY}")
    return images


def build(settings: Settings, data_root: Path) -> Dataset:
    """An original is a photo: its variants share it."""
    images = list_images(data_root)
    original = pd.factorize(images["photo"])[0]
    table = images[["split", "y"]].assign(a=0, original=original).astype({"y": np.int64})
    about = {
        **image_files.WHOLE_IMAGES,
        "size": settings["size"],
        "classes": list(CLASSES),
        "attribute": "none",
        "attributes": ["all"],
    }
    pixels = image_files.images(list(images["file"]), settings["size"], objects.squared, REMEDY)
    return Dataset(pixels, table, about)
