"""Amazon-WILDS (Ni et al. 2019; Koh et al. 2021): how many stars goes a review with? Categories of products as groups.

From WILDS's ``amazon_v2.1/`` under DESPUR_DATA_ROOT: ``reviews.csv`` and ``splits/``. Zhang & Re 2022 name the data
set, but neither split nor groups. WILDS has a split for subpopulation shift: training as they come, validation and
test with as much of each as possible."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.civilcomments import tokenize
from despur.datasets.sources import metadata_tables
from despur.specs.settings import Settings, choice, int_
from despur.storage.raw_files import sha256
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "tokens": int_(512, "Koh et al. 2021: a review is cut after so many", at_least=8, at_most=512),
    "split": choice(
        "category_subpopulation", "not stated; user: WILDS's official one", "category_subpopulation", "user"
    ),
}

PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "bert"},
    "zero_shot": {"encoder": "sentence"},
    "contrastive_adapter": {"anchor_fraction": 0.1},  # not stated here; released code: on all its data but Waterbirds
}

RAW = (
    "amazon_v2.1/reviews.csv | amazon_v2.0/reviews.csv",
    "amazon_v2.1/splits/{split}.csv | amazon_v2.0/splits/{split}.csv",
)

FOLDERS = ("amazon_v2.1", "amazon_v2.0")
SOURCE = "https://wilds.stanford.edu/datasets/#amazon"
REMEDY = f"Get WILDS's Amazon ({SOURCE}) anew into amazon_v2.1/ in the folder that DESPUR_DATA_ROOT names"
SPLITS = {
    "category_subpopulation": {0: "train", 1: "val", 2: "test"},
    "user": {0: "train", 1: "val", 3: "test"},  # 2 and 4: reviewers that are in training too, left out
}
STARS = ["one star", "two stars", "three stars", "four stars", "five stars"]


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every review is an original of its own."""
    folder = metadata_tables.find(data_root, FOLDERS, REMEDY)
    path, split_path = (
        metadata_tables.find(folder, [name], REMEDY) for name in ("reviews.csv", f"splits/{settings['split']}.csv")
    )
    raw = metadata_tables.read_table(path, ["reviewText", "overall", "category"], REMEDY, keep_default_na=False)
    split = metadata_tables.read_table(split_path, ["split"], REMEDY)["split"]
    if len(split) != len(raw):
        raise InputError(f"{split_path} has {len(split)} rows, but {path} {len(raw)}. {REMEDY}")
    meaning = SPLITS[settings["split"]]
    kept = split.isin(list(meaning)).to_numpy()
    raw = raw[kept].reset_index(drop=True)
    categories = sorted(raw["category"].unique())
    y = metadata_tables.decode(path, raw["overall"].astype(float), {float(i + 1): i for i in range(5)}, REMEDY).astype(
        np.int64
    )
    a = raw["category"].map(categories.index).to_numpy()
    names = metadata_tables.decode_splits(split_path, split[kept].reset_index(drop=True), meaning, REMEDY)
    table = pd.DataFrame({"split": names, "y": y, "a": a, "original": np.arange(len(raw))})
    about = {
        **{
            "classes": STARS,
            "attributes": categories,
            "attribute": "category",
            "groups": categories,
            "select": "val",
            "headline": "test",
        },
        **{
            "source": SOURCE,
            "licence": "research purposes only",
            "sha256": {path.name: sha256(path), split_path.name: sha256(split_path)},
        },
    }
    groups = a[:, None] == np.arange(len(categories))
    return Dataset(tokenize(list(raw["reviewText"]), settings["tokens"]), table, about, groups)
