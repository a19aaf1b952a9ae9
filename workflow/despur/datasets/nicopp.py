"""NICO++ (Zhang et al. 2023; Yang et al. 2023, SubpopBench): 60 kinds of things in six contexts, some of them seldom or
never in training.

From your copy under DESPUR_DATA_ROOT: the training images of track 1 of the NICO challenge, a folder of each context
with one of each class. Split as by SubpopBench, at random within each class and context: of at most 75 images a third
validates and two thirds test, and the others train, so that small groups have no training images. It draws from files
in the order of the disk; here from their sorted names. Published sizes of its groups could not be looked up, so that
``despur check`` compares none."""

import json
from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import image_files, metadata_tables, objects
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, draw, int_
from despur.storage.store import Array, Dataset, InputError

SETTINGS = {
    "size": int_(224, "SubpopBench: pixels a side, out of 256", at_least=32),
    "held_out": int_(75, "SubpopBench: images of a group, at most, that do not train", at_least=3),
    "draw": draw("which random split"),
}

PAPER_HYPERPARAMETERS = {  # SubpopBench's defaults, for about its 30,001 steps
    "*": {"encoder": "resnet50", "learning_rate": 1e-3, "weight_decay": 1e-4, "batch_size": 108, "epochs": 52},
    "afr": read_declarations("datasets", "waterbirds")["PAPER_HYPERPARAMETERS"]["afr"],
}

RAW = (
    "nicopp/dg_label_id_mapping.json | dg_label_id_mapping.json",
    *(
        f"nicopp/public_dg_0416/train/{context}/** | public_dg_0416/train/{context}/**"
        for context in ("autumn", "dim", "grass", "outdoor", "rock", "water")
    ),
)
CONTEXTS = ("autumn", "dim", "grass", "outdoor", "rock", "water")  # of these folders
SOURCE = "https://www.dropbox.com/sh/u2bq2xo8sbax4pr/AADbhZJAy0AAbap76cg_XkAfa"
LICENSE = "stated nowhere in what is downloaded; for research"
DOWNLOADS = (
    {
        "url": "https://www.dropbox.com/sh/u2bq2xo8sbax4pr/AACvgYpfQHfS7u_M3yJwkK-ra/track_1/track_1.zip?dl=1",
        "name": "track_1.zip",
        "into": "nicopp",
        "brings": "nicopp/public_dg_0416",
        "read_in": "YyzHarry/SubpopBench, subpopbench/scripts/download.py",
    },
    {
        "url": "https://www.dropbox.com/sh/u2bq2xo8sbax4pr/AADMZPkoNJVI4IP1qbLuKtlFa/track_1/dg_label_id_mapping.json"
        "?dl=1",
        "file": "nicopp/dg_label_id_mapping.json",
        "read_in": "YyzHarry/SubpopBench, subpopbench/scripts/download.py",
    },
)
REMEDY = (
    f"Get track_1.zip and dg_label_id_mapping.json of track 1 from {SOURCE} and unpack it (again) into nicopp/ in the "
    "folder that DESPUR_DATA_ROOT names"
)


def read_classes(data_root: Path) -> list[str]:
    """The names of the classes, which are those of their folders. Raises InputError unless they are numbered from 0."""
    path = metadata_tables.find(data_root, RAW[0], REMEDY)
    try:
        numbers = {int(number): str(name) for name, number in json.loads(path.read_text()).items()}
        return [numbers[number] for number in range(max(numbers) + 1)]
    except (ValueError, TypeError, AttributeError, KeyError, OSError, RecursionError) as error:
        raise InputError(f"{path} does not number the classes from 0 ({error!r}). {REMEDY}") from error


def list_images(data_root: Path, classes: list[str]) -> pd.DataFrame:
    """Images with class and attribute, by context, class and name. Raises InputError for a class or a context without
    images."""
    rows = []
    for a, pattern in enumerate(RAW[1:]):
        folder = metadata_tables.find(data_root, pattern, REMEDY).parent
        there = [(y, folder / name) for y, name in enumerate(classes) if (folder / name).is_dir()]
        here = [(file, y, a) for y, place in there for file in objects.images_in(place)]
        if not here:
            raise InputError(f"{folder} has no images in folders of the classes. {REMEDY}")
        rows += here
    images = pd.DataFrame(rows, columns=["file", "y", "a"])
    if lacking := [name for y, name in enumerate(classes) if y not in set(images["y"])]:
        raise InputError(f"no context has images of the class {lacking[0]}, below {folder.parent}. {REMEDY}")
    return images


def draw_split(images: pd.DataFrame, held_out: int, rng: np.random.Generator) -> Array:
    """The split of each image, (N,), by group."""
    split = np.full(len(images), "train", object)
    for rows in images.groupby(["y", "a"]).indices.values():
        drawn = rng.permutation(rows)[:held_out]
        split[drawn[: len(drawn) // 3]], split[drawn[len(drawn) // 3 :]] = "val", "test"
    return split


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every image is an original."""
    classes = read_classes(data_root)
    images = list_images(data_root, classes)
    split = draw_split(images, settings["held_out"], derive_generator("nicopp", settings["draw"]))
    table = images[["y", "a"]].assign(split=split, original=np.arange(len(images)))
    about = {
        **image_files.WHOLE_IMAGES,
        "size": settings["size"],
        "classes": classes,
        "attribute": "context",
        "attributes": list(CONTEXTS),
    }
    pixels = image_files.images(list(images["file"]), settings["size"], objects.squared, REMEDY)
    return Dataset(pixels, table, about)
