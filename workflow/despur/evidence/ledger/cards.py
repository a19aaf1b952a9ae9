"""The card of a data point: labels, groups and originals of its test samples, which the records of its runs share."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.ledger.coding import decode, decode_ids, encode, encode_ids
from despur.evidence.ledger.files import SCHEMA, read
from despur.specs.declarations import read_declarations
from despur.specs.resolution import resolve
from despur.storage.store import Dataset, InputError

KEYS = {"schema": int, "dataset": str, "about": dict, "train": list, "splits": dict}
COPIED_KEYS = ("classes", "attributes", "groups", "select", "headline", "source", "licence")


def make_card(dataset: Dataset, name: str) -> dict[str, Any]:
    """What metrics of predictions need of a data point: labels, groups and originals of its test samples, and how many
    training samples each class x attribute has."""
    train = dataset.class_attribute_groups[dataset.rows("train")].sum(axis=0)
    assert dataset.groups is not None
    own_groups = not np.array_equal(dataset.groups, dataset.class_attribute_groups)
    splits = {}
    for split in dataset.test_splits:
        rows = dataset.rows(split)
        table = dataset.table.iloc[rows]
        splits[split] = {
            "y": encode(table["y"].to_numpy()),
            "a": encode(table["a"].to_numpy()),
            "original": encode_ids(table["original"].to_numpy()),
        }
        if own_groups:
            splits[split]["groups"] = encode(dataset.groups[rows])
    about = {key: dataset.about[key] for key in COPIED_KEYS if key in dataset.about}
    return {"schema": SCHEMA, "dataset": name, "about": about, "train": train.tolist(), "splits": splits}


def withholds_labels(data: str) -> bool:
    """Whether a data set, or the one that it is made from, declares that its labels may not be passed on."""
    specs = [spec for point in resolve("datasets", data).points for spec in (point, point.source) if spec]
    return any("LABELS_WITHHELD" in read_declarations(spec.kind, spec.base_name) for spec in specs)


def read_card(path: Path) -> Dataset:
    """A data set with the labels of a card and without inputs: metrics of predictions are the same on it as on the
    whole data set. Raises InputError, naming the file, for a file that is no card."""
    content = read(path, KEYS)
    try:
        about = content["about"] | {"dataset": content["dataset"]}
        return unpack_card(about, content["train"], content["splits"])
    except (AttributeError, KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(f"{path}: no labels, groups and originals ({error!r})") from None


def unpack_card(about: dict[str, Any], train: list[int], splits: Mapping[str, Any]) -> Dataset:
    """The samples of test splits, and as many of the training split as it has."""
    attributes = len(about["attributes"])
    y, a = np.divmod(np.repeat(np.arange(len(about["classes"]) * attributes), train), attributes)
    tables = [pd.DataFrame({"split": "train", "y": y, "a": a})]
    groups = [np.zeros((len(y), len(about["groups"])), bool)]
    for split, arrays in splits.items():
        labels = {name: decode(arrays[name]).astype(int) for name in ("y", "a")}
        tables.append(pd.DataFrame({"split": split, **labels, "original": decode_ids(arrays["original"])}))
        groups += [decode(arrays["groups"])] if "groups" in arrays else []
    ids = np.concatenate([split_table["original"].to_numpy() for split_table in tables[1:]])
    tables[0]["original"] = np.zeros(len(y), ids.dtype)  # not known of training samples; ids keep their type
    table = pd.concat(tables, ignore_index=True)
    member = np.concatenate(groups) if len(groups) > 1 else None  # None: class-attribute groups
    return Dataset(np.empty((len(table), 0), np.float32), table, about, member)
