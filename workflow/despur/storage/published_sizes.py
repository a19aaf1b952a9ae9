"""Published sizes of data sets (``PUBLISHED_SIZES`` of a data set's file): what has others lacks a part, or is another
version."""

from collections.abc import Iterator

from despur.specs.declarations import read_declarations
from despur.specs.spec import Spec
from despur.storage.reading import InputError
from despur.storage.store import Dataset

# Settings that choose samples: by default, those of the paper.
CHOOSING = {"professions", "synsets", "per_class", "val_fraction", "attribute"}


def compare_sizes(point: Spec, dataset: Dataset) -> Iterator[str]:
    """The splits and groups that have other sizes than published (``PUBLISHED_SIZES`` of the data set's file). Nothing
    is compared where a setting chooses other samples, nor training where one says how many samples are used."""
    if CHOOSING & set(point.changes):
        return
    for split, published in read_declarations("datasets", point.base_name).get("PUBLISHED_SIZES", {}).items():
        rows = dataset.rows(split)
        if split == "train" and point.settings.get("samples"):
            continue
        if not isinstance(published, list):
            yield from compare_size(split, published, len(rows))
        elif dataset.groups is not None:
            for name, size, inside in zip(dataset.about["groups"], published, dataset.groups[rows].T, strict=True):
                yield from compare_size(f"{split}, {name}", size, int(inside.sum()))


def compare_size(name: str, published: float, size: int) -> Iterator[str]:
    """Of a rounded number (a float), half a thousand and 2 % are tolerated: releases differ."""
    tolerated = max(500.0, 0.02 * published) if isinstance(published, float) else 0
    if abs(size - published) > tolerated:
        yield f"{name} has {size:,} samples, published are {published:,.0f}"


def refuse_other_sizes(point: Spec, dataset: Dataset) -> Dataset:
    """The data set itself. Raises InputError for one that has other sizes than published."""
    if other := [*compare_sizes(point, dataset)]:
        source = read_declarations("datasets", point.base_name).get("SOURCE", "not stated")
        remedy = f"get them from {source}, or bring another version as your own data (docs/your_own_data.md)"
        raise InputError(f"{point.name}: {'; '.join(other)}. Parts are missing, or it is another version: {remedy}")
    return dataset
