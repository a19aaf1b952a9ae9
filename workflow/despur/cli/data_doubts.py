"""What ``despur check`` says of a data set that stages can use, but that may not be as its maker believes: labels
from which little can be learned, an empty split that selects, empty groups, samples that occur twice, labels among the
features."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from despur.cli.data_checks import name_some
from despur.storage.store import MISSING, Array, Dataset

FEW = 20  # values of a feature that may be a label
HEAD = 1000  # samples that are looked at first


def list_doubts(dataset: Dataset, keys: Array, own: bool) -> Iterator[str]:
    """One line for each. ``keys``: (N,), the same for samples of the same inputs. ``own``: whether somebody brought the
    samples, and can take some out; published ones are what they are."""
    if "-1" in dataset.about["classes"] and len(dataset.about["classes"]) > 2:
        yield "-1 is a class here, not a missing one: if it is missing, leave these samples out"
    yield from list_label_doubts(dataset)
    if (select := dataset.about["select"]) not in dataset.splits:
        yield (
            f"no sample of the split {select}, which selects; there are {', '.join(dataset.splits)}: name another one "
            "in about['select'], or run methods with criterion=last"
        )
    yield from list_empty_groups(dataset)
    yield from list_duplicates(dataset, keys, own)
    if isinstance(dataset.inputs, np.ndarray) and dataset.inputs.dtype == np.float32:
        yield from list_labels_among_features(dataset, dataset.inputs)


def list_label_doubts(dataset: Dataset) -> Iterator[str]:
    """An attribute that is the class in every sample, and classes with one training sample."""
    has_attribute = dataset.a != MISSING
    if is_renamed(dataset.a[has_attribute], dataset.y[has_attribute]):
        attribute = dataset.about["attribute"]
        yield f"{attribute} says the class of every sample: bring an attribute that sometimes differs from the class"
    counts = np.bincount(dataset.y[dataset.rows("train")], minlength=len(dataset.about["classes"]))
    if single := [name for name, count in zip(dataset.about["classes"], counts, strict=True) if count == 1]:
        yield f"one training sample of the class {name_some(single, ', ')}: bring more of it, or leave the class out"


def list_empty_groups(dataset: Dataset) -> Iterator[str]:
    """The class-attribute groups that a split lacks although another one has them, and it has their class and their
    attribute value."""
    groups, names, tested = dataset.class_attribute_groups, dataset.about["attributes"], dataset.test_splits
    everywhere = groups.any(axis=0)
    for split in ("train", dataset.about["select"], *tested):
        rows = dataset.rows(split)
        present = groups[rows].any(axis=0).reshape(-1, len(names))
        expected = np.outer(present.any(axis=1), present.any(axis=0))
        lacking = np.argwhere(expected & ~present & everywhere.reshape(present.shape))
        if len(lacking) and len(dataset.rows_with_attribute(split)) == len(rows):
            shown = name_some([f"{dataset.about['classes'][y]}, {names[a]}" for y, a in lacking], "; ")
            yield (
                f"the split {split} has no sample of the group {shown}, which another split has: "
                "training, selection and metrics by this split leave it out, unless samples are moved there"
            )


def list_duplicates(dataset: Dataset, keys: Array, own: bool) -> Iterator[str]:
    """How many samples of a split are the same as another one of it, and how many as a training sample. Samples of one
    original may be the same. ``keys``, ``own``: as for :func:`list_doubts`."""
    train = keys[dataset.rows("train")]
    for split in dataset.splits:
        rows = dataset.rows(split)
        here = keys[rows]
        pairs = np.unique(np.stack([here, pd.factorize(dataset.table["original"].iloc[rows])[0]], axis=1), axis=0)
        if repeated := len(pairs) - len(np.unique(here)):
            same = f"{repeated:,} of {len(here):,} samples of the split {split}"
            yield f"{same} have the inputs of another one of it{': keep one of each' * own}"
        if split != "train" and (seen := int(np.isin(here, train).sum())):
            remedy = ": take them out of one of the two, or metrics are of what was trained on"
            same = f"{seen:,} of {len(here):,} samples of the split {split}"
            yield f"{same} have the inputs of a training sample{remedy * own}"


def list_labels_among_features(dataset: Dataset, inputs: Array) -> Iterator[str]:
    """Features, numbered from 0, that say the class, the attribute or the group of every sample, or number the
    samples."""
    labels = {dataset.about["attribute"]: dataset.a, "class": dataset.y}
    labels["group"] = dataset.y * len(dataset.about["attributes"]) + dataset.a
    for number, feature in enumerate(inputs.T):
        if len(np.unique(feature[:HEAD])) <= FEW:
            for what, values in labels.items():
                if is_renamed(feature, values):
                    yield f"feature {number} says the {what} of every sample: is it a label?"
        elif (np.diff(feature) == 1).all():
            yield f"feature {number} numbers the samples: is it a column of row numbers?"


def is_renamed(feature: Array, values: Array) -> bool:
    """Whether two arrays (N,) are the same but for the names of their values, of which there are at least two."""
    pairs = np.unique(np.stack([feature, values], axis=1), axis=0)
    return 1 < len(pairs) == len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1]))
