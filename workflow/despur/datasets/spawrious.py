"""Spawrious (Lynch et al. 2023): generated images of four breeds of dogs in six places. Each breed trains in places of
its own and is tested in other ones.

From your copy under DESPUR_DATA_ROOT. A *one-to-one* challenge (``o2o``): each breed trains in one place, in 97 % of
the images of a first environment and 87 % of a second; the others show all breeds in a further place. *Many-to-many*
(``m2m``): two breeds share two places, and are tested in those of the other two. The attribute is the place; most
groups are empty, in training or in the test. The released code takes images in the order of the disk, and holds any of
them out; here they are drawn from sorted names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import image_files, metadata_tables, objects
from despur.specs.settings import Settings, choice, draw, float_, int_
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "challenge": choice(
        "o2o_hard",
        "Lynch et al. have six, none before the others; ours",
        *("o2o_easy", "o2o_medium", "o2o_hard", "m2m_easy", "m2m_medium", "m2m_hard"),
    ),
    "size": int_(224, "released code: pixels a side", at_least=32),
    "val_fraction": float_(0.2, "released code, README: of the training images, at random", above=0, below=1),
    "draw": draw("which images train and validate"),
}

PAPER_HYPERPARAMETERS = {"*": {"encoder": "resnet50"}}

RAW = ("spawrious224/0/*", "spawrious224/1/*")  # environment/PLACE/BREED/
SOURCE = "https://github.com/aengusl/spawrious"
LICENSE = "CC BY 4.0"
DOWNLOADS = (
    {
        "url": "https://www.dropbox.com/s/e40j553480h3f3s/spawrious224.tar.gz?dl=1",
        "mirrors": ("https://www.dropbox.com/s/hofkueo8qvaqlp3/spawrious224__entire_dataset.tar.gz?dl=1",),
        "name": "spawrious224.tar.gz",
        "brings": "spawrious224",
        "read_in": "aengusl/spawrious, README.md; spawrious/torch.py, the mirror",
    },
)
REMEDY = f"Get the entire dataset from {SOURCE} and unpack it (again) in the folder that DESPUR_DATA_ROOT names"

BREEDS = ("bulldog", "dachshund", "labrador", "corgi")
PLACES = ("beach", "desert", "dirt", "jungle", "mountain", "snow")
PER_GROUP = 3_168  # images of a breed in a place in one environment
SPURIOUS = (0.97, 0.87)  # of one-to-one: the share of the place of its own that a breed has in each environment
# By challenge: the places of training and of the test, by breed; of one-to-one, the place that all breeds share. Of
# many-to-many, the first two breeds share the first two places.
CHALLENGES: dict[str, tuple[tuple[str, ...], tuple[str, ...], str]] = {
    "o2o_easy": (("desert", "jungle", "dirt", "snow"), ("dirt", "snow", "desert", "jungle"), "beach"),
    "o2o_medium": (("mountain", "beach", "dirt", "jungle"), ("jungle", "dirt", "beach", "snow"), "desert"),
    "o2o_hard": (("jungle", "mountain", "snow", "desert"), ("mountain", "snow", "desert", "jungle"), "beach"),
    "m2m_easy": (("desert", "mountain", "dirt", "jungle"), ("dirt", "jungle", "mountain", "desert"), ""),
    "m2m_medium": (("beach", "snow", "mountain", "desert"), ("desert", "mountain", "beach", "snow"), ""),
    "m2m_hard": (("dirt", "jungle", "snow", "beach"), ("snow", "beach", "dirt", "jungle"), ""),
}


class Part(NamedTuple):
    """Images of a breed in a place, of one environment's folder: how many of them."""

    split: str
    environment: int
    place: str
    breed: str
    images: int | None = None  # all


def list_parts(challenge: str) -> Iterator[Part]:
    """What a challenge takes of the images (released code, spawrious/torch.py)."""
    trained, tested, shared = CHALLENGES[challenge]
    for position, breed in enumerate(BREEDS):
        if not shared:
            pair = slice(0, 2) if position < 2 else slice(2, 4)
            yield from (Part("train", 0, place, breed, PER_GROUP) for place in trained[pair])
            yield from (Part("test", 0, place, breed) for place in tested[pair])
            continue
        for environment, share in enumerate(SPURIOUS):
            own = int(share * PER_GROUP)
            yield Part("train", environment, trained[position], breed, own)
            yield Part("train", environment, shared, breed, PER_GROUP - own)
            yield Part("test", environment, tested[position], breed)


def list_images(data_root: Path, challenge: str, rng: np.random.Generator) -> pd.DataFrame:
    """Images with split, class and attribute. Raises InputError for a folder with too few images."""
    folders = [metadata_tables.find(data_root, pattern, REMEDY).parent for pattern in RAW]
    rows = []
    for part in list_parts(challenge):
        folder = folders[part.environment] / part.place / part.breed
        files = objects.images_in(folder) if folder.is_dir() else []
        if len(files) < (part.images or 1):
            raise InputError(f"{folder} has {len(files):,} images; {challenge} needs {part.images or 1:,}. {REMEDY}")
        chosen = sorted(rng.permutation(len(files))[: part.images])
        meaning = part.split, BREEDS.index(part.breed), PLACES.index(part.place)
        rows += [(files[row], *meaning) for row in chosen]
    return pd.DataFrame(rows, columns=["file", "split", "y", "a"])


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every image is an original."""
    rng = derive_generator("spawrious", settings["draw"])
    images = list_images(data_root, settings["challenge"], rng)
    trained = np.flatnonzero(images["split"] == "train")
    validated = rng.permutation(trained)[: int(settings["val_fraction"] * len(trained))]
    images.loc[validated, "split"] = "val"
    about = {
        **image_files.WHOLE_IMAGES,
        "size": settings["size"],
        "classes": list(BREEDS),
        "attribute": "place",
        "attributes": list(PLACES),
    }
    table = images[["split", "y", "a"]].assign(original=np.arange(len(images)))
    pixels = image_files.images(list(images["file"]), settings["size"], image_files.as_clip, REMEDY)
    return Dataset(pixels, table, about)
