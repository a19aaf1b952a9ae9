"""What is refused before a data set is written, and by which words; and that the bundled ones are not refused."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from helpers import result, some, tiny_dataset

from despur import data
from despur.datasets import colored_digits
from despur.datasets.sources import embedding_files
from despur.storage.dataset_checks import validate
from despur.storage.store import Dataset, InputError, Lazy

HERE = Path("mine.py")
EMBEDDED = {"inputs": np.zeros((120, 4), np.float32), "masks": None}


def changed(**changes):
    """The made-up data set with other columns of its table, other keys of ``about`` (None: without it) or other
    parts."""
    given = tiny_dataset()
    about = {key: value for key, value in {**given.about, **changes.pop("about", {})}.items() if value is not None}
    table = given.table.assign(**changes.pop("table", {})).drop(columns=changes.pop("without", []))
    parts = {"inputs": given.inputs, **changes}
    return Dataset(table=table, about=about, **parts)


def test_what_no_stage_could_use_is_refused_by_name():
    y, nan = tiny_dataset().y, some(EMBEDDED["inputs"], (100, 1), np.nan)
    split = tiny_dataset().table["split"].to_numpy()
    faulty = {
        "no column original": {"without": ["original"]},
        "no column y, a": {"without": ["y", "a"]},
        "about has no attributes": {"about": {"attributes": None}},
        "about has no attribute:": {"about": {"attribute": None}},
        "119 inputs, but 120 labels": {"inputs": tiny_dataset().inputs[1:]},
        "split of sample 3 is missing": {"table": {"split": some(split.astype(object), 3, None)}},
        "y is object.*np.unique": {"table": {"y": np.array(["cat", "dog"] * 60)}},
        "y is float64": {"table": {"y": y.astype(float)}},
        "y of sample 4 is 5.*from 0 to 4": {"table": {"y": y + 1}},
        "y of sample 7 is -1": {"table": {"y": some(y, 7, -1)}},
        "a of sample 9 is 5": {"table": {"a": some(y, 9, 5)}},
        r"inputs are float64 \(120, 4\).*float32": {"inputs": np.zeros((120, 4))},
        r"inputs are uint8 \(120, 36, 36\)": {"inputs": tiny_dataset().inputs[..., 0]},
        "36x36 pixels, from which no square of 40": {"about": {"size": 40}},
        "no square of 0": {"about": {"size": None}},
        "sample 100 holds a value that is not a finite": {"inputs": nan},
        "'size'. is '32'; it must be a whole number": {"about": {"size": "32"}},
        "inputs are list; they must be a numpy array": {"inputs": EMBEDDED["inputs"].tolist()},
        "class_embeddings are list": {**EMBEDDED, "class_embeddings": [[0.0] * 4] * 5},
        "original holds values that cannot be told apart .*'list'": {"table": {"original": [[i] for i in range(120)]}},
        "split holds values that cannot be told apart": {"table": {"split": [["train"]] * 120}},
        "groups are float64": {"groups": np.ones((120, 2))},
        "masks are bool": {"masks": np.ones((120, 4, 4), bool)},
        "class_embeddings are .3, 4.*5 classes": {**EMBEDDED, "class_embeddings": np.ones((3, 4))},
        "class_embeddings have 6 numbers each, samples' embeddings 4": {
            **EMBEDDED,
            "class_embeddings": np.ones((5, 6)),
        },
        "no sample of the split train": {"table": {"split": np.array(["val", "test"] * 60)}},
        "a split is called held_out": {"table": {"split": np.where(split == "test", "held_out", split)}},
        "no sample of the split test_ood; there are train, val, test": {"about": {"headline": "test_ood"}},
        "neither trained nor tested": {"about": {"select": "test"}},
        "no training sample of class class 3, but one in the split val": {
            "table": {"y": np.where((split == "train") & (y == 3), 0, y)}
        },
        "original 0 is in several splits": {"table": {"original": np.arange(120) % 60}},
    }
    for words, changes in faulty.items():
        with pytest.raises(InputError, match=rf"^mine\.py: .*{words}"):
            validate(HERE, changed(**changes))


def test_a_size_of_none_is_refused():
    given = changed()
    given.about["size"] = None
    with pytest.raises(InputError, match=r"about\['size'\] is None; it must be a whole number"):
        validate(HERE, given)


@pytest.mark.filterwarnings("error")
def test_raw_splits_may_be_categories_and_a_table_without_them_is_refused_by_name():
    given = tiny_dataset()
    table = given.table.assign(split=given.table["split"].replace("val", "Dev").astype("category"))
    found = embedding_files.dataset(HERE, given.inputs, table, given.about)
    assert found.table["split"].tolist() == given.table["split"].tolist() and found.table["split"].dtype == object
    for column in ("split", "y"):
        with pytest.raises(InputError, match=rf"^mine\.py: the table has no column {column}:"):
            embedding_files.dataset(HERE, given.inputs, table.drop(columns=column), given.about)


def test_codes_of_splits_are_read_as_wilds_has_them_or_explained():
    given = tiny_dataset()
    codes = given.table["split"].map({"train": 0, "val": 1, "test": 2})
    found = embedding_files.dataset(HERE, given.inputs, given.table.assign(split=codes), given.about)
    assert found.table["split"].tolist() == given.table["split"].tolist()
    with pytest.raises(InputError, match=r"^mine\.py: split of sample 60 is 5; .* 0 train, 1 val, 2 test"):
        embedding_files.dataset(HERE, given.inputs, given.table.assign(split=codes.replace(1, 5)), given.about)


def test_what_stages_can_use_is_not_refused():
    split = tiny_dataset().table["split"].to_numpy()
    without_labels = {
        "split": some(split.astype("U10"), slice(0, 20), "unlabelled"),
        "y": some(tiny_dataset().y, slice(0, 20), -1),
    }
    lazy = Lazy((120, 36, 36, 3), np.uint8, lambda rows: pytest.fail("no image needs to be made"))
    every = {
        "images": {},
        "embeddings": EMBEDDED,
        "tokens": {"inputs": np.zeros((120, 7), np.int32)},
        "unlabelled": {"table": without_labels},
        "one attribute": {"table": {"a": 0}, "about": {"attributes": ["all"]}},
        "nothing selects": {"table": {"split": np.where(split == "val", "test", split)}},
        "lazy": {"inputs": lazy},
        "an original in two test splits": {
            "table": {"split": some(split.astype("U9"), -1, "test_also"), "original": some(np.arange(120), -1, 118)}
        },
    }
    for name, changes in every.items():
        dataset = changed(**changes)
        assert validate(HERE, dataset) is dataset, name


def test_a_data_set_is_checked_before_anything_is_written(tmp_path, monkeypatch):
    given = tiny_dataset()
    wrong = replace(given, table=pd.DataFrame({**given.table, "y": given.y + 1}))
    monkeypatch.setattr(colored_digits, "build", lambda *_: wrong)
    with pytest.raises(InputError, match=r"datasets/colored_digits\.py: y of sample 4 is 5"):
        data.build(result(tmp_path, "data/colored_digits"), Namespace(data_root=tmp_path))
    assert not list(tmp_path.iterdir())
