"""MetaShift, cats against dogs, indoor or outdoor (Liang & Zou 2022; Yang et al. 2023, SubpopBench): cats are mostly
indoor, dogs mostly outdoor.

From your copy under DESPUR_DATA_ROOT: the folder of four groups that the released code of MetaShift makes. Split as by
SubpopBench, at random, whatever the folders' train and test: a quarter for test, a tenth for validation. It draws from
files in the order of the disk; here from their sorted names. Published sizes of its groups could not be looked up, so
that ``despur check`` compares none."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import image_files, metadata_tables, objects
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, draw, float_, int_
from despur.storage.store import Dataset, InputError

REVISION = 2  # images are cut to the pixel where torchvision cuts them
SETTINGS = {
    "size": int_(224, "SubpopBench: pixels a side, out of 256", at_least=32),
    "test_fraction": float_(0.25, "SubpopBench", above=0, below=1),
    "val_fraction": float_(0.1, "SubpopBench: of all images", above=0, below=1),
    "draw": draw("which random split"),
}

PAPER_HYPERPARAMETERS = {  # SubpopBench's defaults, for about its 5,001 steps
    "*": {"encoder": "resnet50", "learning_rate": 1e-3, "weight_decay": 1e-4, "batch_size": 108, "epochs": 240},
    "afr": read_declarations("datasets", "waterbirds")["PAPER_HYPERPARAMETERS"]["afr"],
}

RAW = tuple(
    f"metashift/MetaShift-Cat-Dog-indoor-outdoor/{group}/** | MetaShift-Cat-Dog-indoor-outdoor/{group}/**"
    for group in ("train/dog/dog(outdoor)", "test/dog/dog(indoor)", "test/cat/cat(outdoor)", "train/cat/cat(indoor)")
)
GROUPS = ((0, 0), (0, 1), (1, 0), (1, 1))  # class and attribute in each of these folders
SOURCE = "https://www.dropbox.com/s/a7k65rlj4ownyr2/metashift.tar.gz?dl=1"
LICENSE = "Visual Genome: CC BY 4.0"
DOWNLOADS = (
    {
        "name": "metashift.tar.gz",
        "into": "metashift",
        "read_in": "YyzHarry/SubpopBench, subpopbench/scripts/download.py",
    },
)
REMEDY = f"Download {SOURCE} and unpack it (again) into metashift/ in the folder that DESPUR_DATA_ROOT names"


def list_images(data_root: Path) -> pd.DataFrame:
    """Images with class and attribute, by group and name. Raises InputError for a group without images."""
    rows = []
    for pattern, (y, a) in zip(RAW, GROUPS, strict=True):
        folder = metadata_tables.find(data_root, pattern, REMEDY).parent
        files = objects.images_in(folder)
        if not files:
            raise InputError(f"{folder} has no images. {REMEDY}")
        rows += [(file, y, a) for file in files]
    return pd.DataFrame(rows, columns=["file", "y", "a"])


def build(settings: Settings, data_root: Path) -> Dataset:
    """An image is an original, also where it is in two groups, as pictures of Visual Genome with a cat and a dog may
    be."""
    size = settings["size"]
    images = list_images(data_root)
    original, names = pd.factorize(images["file"].map(lambda file: file.name))
    order = derive_generator("metashift", settings["draw"]).permutation(len(names))
    tested, validated = (int(settings[f"{part}_fraction"] * len(names)) for part in ("test", "val"))
    split = np.full(len(names), "train", object)
    split[order[:tested]], split[order[tested : tested + validated]] = "test", "val"
    table = images[["y", "a"]].assign(split=split[original], original=original)
    about = {
        **image_files.WHOLE_IMAGES,
        "size": size,
        "classes": ["dog", "cat"],
        "attribute": "place",
        "attributes": ["outdoor", "indoor"],
    }
    pixels = image_files.images(list(images["file"]), size, objects.squared, REMEDY)
    return Dataset(pixels, table, about)
