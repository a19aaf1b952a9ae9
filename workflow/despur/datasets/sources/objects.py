"""What data sets of objects share (CIFAR, STL-10, ImageNet and its parts): classes without a known attribute, no
validation split."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.pickled_tables import read_pickled_data
from despur.storage.raw_files import require_checksum
from despur.storage.store import Array, Dataset, InputError, Lazy

IMAGES = {".jpeg", ".jpg", ".png"}
Files = list[tuple[Path, int]]  # an image and its class


def dataset(
    inputs: Array | Lazy, split: Sequence[str] | Array, y: Sequence[int] | Array, classes: Sequence[str], **about: Any
) -> Dataset:
    """Every image an original of its own. Nothing selects: the papers hold no validation data out, and the last step
    counts.

    Class -1, of the split "unlabelled", is not known: only methods without labels see those samples.
    """
    table = pd.DataFrame({"split": split, "y": np.asarray(y, np.int64), "a": 0, "original": np.arange(len(y))})
    fixed = {**image_files.WHOLE_IMAGES, "attribute": "none", "attributes": ["all"]}
    return Dataset(inputs, table, {**fixed, "size": inputs.shape[1], "classes": list(classes), **about})


def verify_checksum(path: Path, md5: str, remedy: str) -> Path:
    """The path of a file that exists and has its published checksum. Raises InputError otherwise."""
    if not path.exists():
        raise InputError(f"{path} is not there. {remedy}")
    return require_checksum(path, md5, remedy, "md5")


def read_cifar(
    folder: Path, splits: Mapping[str, Mapping[str, str]], label: str, meta: tuple[str, str, str], remedy: str
) -> Dataset:
    """CIFAR as torchvision lays it out: pickles of Python 2, with their published checksums.

    ``splits``: file names and MD5 by split; ``label``: the key of the labels; ``meta``: file, MD5 and key of the names
    of the classes."""
    name, md5, key = meta
    classes = read_pickled_data(verify_checksum(folder / name, md5, remedy), "latin1")[key]
    parts = [
        (split, read_pickled_data(verify_checksum(folder / file, md5, remedy), "latin1"))
        for split, files in splits.items()
        for file, md5 in files.items()
    ]
    pixels = np.concatenate([part["data"] for _, part in parts]).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    y = np.concatenate([part[label] for _, part in parts])
    split = np.concatenate([[split] * len(part[label]) for split, part in parts])
    sums = {file: md5 for files in splits.values() for file, md5 in files.items()}
    return dataset(np.ascontiguousarray(pixels), split, y, classes, md5=sums)


def is_synset(text: str) -> bool:
    """Whether a text is a synset, as folders of ImageNet's classes are called: n01443537."""
    return text[:1] == "n" and text[1:].isdecimal()


def read_synsets(path: Path, count: int | None, remedy: str) -> list[str]:
    """The synsets (n01443537) that a file lists. Raises InputError unless they are ``count`` different ones; None: two
    or more."""
    synsets = metadata_tables.read_words(path, remedy)
    wrong = [text for text in synsets if not is_synset(text)]
    if wrong or len(set(synsets)) < len(synsets):
        raise InputError(f"{path}: {f'{wrong[0]!r} is no synset' if wrong else 'a synset is there twice'}. {remedy}")
    if len(synsets) != (count or max(len(synsets), 2)):
        raise InputError(f"{path} lists {len(synsets)} synsets; expected: {count or 'two or more'}. {remedy}")
    return synsets


def images_in(folder: Path) -> list[Path]:
    """Image files of a folder, sorted; without hidden ones, such as what macOS leaves beside each."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in IMAGES and path.name[0] != ".")


def class_folders(folder: Path, synsets: Sequence[str], remedy: str) -> Files:
    """Images of ``folder/SYNSET/`` or ``folder/SYNSET/images/``, by class. Raises InputError for a class without
    images."""
    files: Files = []
    for y, synset in enumerate(synsets):
        candidates = (folder / synset / "images", folder / synset)
        class_folder = next((path for path in candidates if path.is_dir()), None)
        paths = images_in(class_folder) if class_folder else []
        if not paths:
            raise InputError(f"{folder} has no images in a folder {synset}. {remedy}")
        files += [(path, y) for path in paths]
    return files


def squared(image: Image.Image, size: int) -> Image.Image:
    """The shorter side resized to ``size`` * 256 / 224, then the center (size,size): how ImageNet is usually tested."""
    return image_files.cut_center(image, round(size * 256 / 224), size, Image.Resampling.BILINEAR)
