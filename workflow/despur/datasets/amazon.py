"""Amazon-WILDS (Ni et al. 2019; Koh et al. 2021): is a review negative or positive? Categories of products as groups.

From WILDS's ``amazon_v2.1/`` under DESPUR_DATA_ROOT: ``reviews.csv`` and ``splits/``. Zhang & Re 2022 name the data
set; task and split are those of their released code: reviews of 1 or 2 stars against those of 4 or 5, in WILDS's split
for subpopulation shift (training as reviews come, validation and test with as much of each category as possible).
``classes=stars`` is WILDS's own task, the number of stars."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import metadata_tables
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, int_
from despur.storage.store import Dataset, InputError
from despur.storage.tokenizers import tokenize

REVISION = 2  # negative or positive; before, the number of stars
SETTINGS = {
    "classes": choice(
        "polarity", "released code: 1, 2 stars or 4, 5, without 3; stars: Koh et al. 2021", "polarity", "stars"
    ),
    "tokens": int_(512, "Koh et al. 2021: a review is cut after so many", at_least=8, at_most=512),
    "split": choice(
        "category_subpopulation", "released code; user: WILDS's official one", "category_subpopulation", "user"
    ),
    "vocabulary": read_declarations("datasets", "civilcomments")["SETTINGS"]["vocabulary"],
}

PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "bert"},
    "zero_shot": {"encoder": "sentence"},  # ours: a small model. The paper's are GPT-Neo, RoBERTa and BART
    "contrastive_adapter": {"anchor_fraction": 0.1},  # not stated here; released code: on all its data but Waterbirds
}

RAW = (
    "amazon_v2.1/reviews.csv | amazon_v2.0/reviews.csv",
    "amazon_v2.1/splits/{split}.csv | amazon_v2.0/splits/{split}.csv",
)
DOWNLOADS = (  # WILDS's
    {
        "url": "https://worksheets.codalab.org/rest/bundles/0xe3ed909786d34ee79d430d065582aa29/contents/blob/",
        "name": "amazon_v2.1.tar.gz",
        "size": 1_989_805_589,
        "into": "amazon_v2.1",
        "read_in": "p-lambda/wilds, wilds/datasets/amazon_dataset.py",
    },
)

SOURCE = "https://wilds.stanford.edu/datasets/#amazon"
LICENSE = "research purposes only"
REMEDY = f"Get WILDS's Amazon ({SOURCE}) into amazon_v2.1/ in the folder that DESPUR_DATA_ROOT names"
SPLITS = {
    "category_subpopulation": {0: "train", 1: "val", 2: "test"},
    "user": {0: "train", 1: "val", 3: "test"},  # 2 and 4: reviewers that are in training too, left out
}
CLASSES: dict[str, dict[str, tuple[int, ...]]] = {  # each with the stars that reviews of it have
    "polarity": {"negative": (1, 2), "positive": (4, 5)},
    "stars": {"one star": (1,), "two stars": (2,), "three stars": (3,), "four stars": (4,), "five stars": (5,)},
}


def build(settings: Settings, data_root: Path) -> Dataset:
    """Every review is an original of its own."""
    path, split_path = (metadata_tables.find(data_root, pattern.format(**settings), REMEDY) for pattern in RAW)
    columns, text = ["reviewText", "overall", "category"], ["reviewText"]
    raw = metadata_tables.read_table(path, columns, REMEDY, may_be_empty=text, keep_default_na=False)
    split = metadata_tables.read_table(split_path, ["split"], REMEDY)["split"]
    if len(split) != len(raw):
        raise InputError(f"{split_path} has {len(split)} rows, but {path} {len(raw)}. {REMEDY}")
    meaning, classes = SPLITS[settings["split"]], CLASSES[settings["classes"]]
    raw = raw.assign(split=split)[split.isin(list(meaning))]
    classes_of_stars = {float(stars): -1 for stars in range(1, 6)}
    classes_of_stars |= {float(stars): y for y, class_stars in enumerate(classes.values()) for stars in class_stars}
    stars = pd.to_numeric(raw["overall"], errors="coerce").astype(float)
    if stars.isna().any():
        raise metadata_tables.fault(path, raw["overall"], int(stars.isna().to_numpy().argmax()), REMEDY)
    raw["y"] = metadata_tables.decode(path, stars, classes_of_stars, REMEDY)
    raw = raw[raw["y"] >= 0].reset_index(drop=True)
    categories = sorted(raw["category"].unique())
    y, a = raw["y"].to_numpy(np.int64), raw["category"].map(categories.index).to_numpy()
    names = metadata_tables.decode_splits(split_path, raw["split"], meaning, REMEDY)
    table = pd.DataFrame({"split": names, "y": y, "a": a, "original": np.arange(len(raw))})
    about = {
        "classes": list(classes),
        "vocabulary": settings["vocabulary"],
        "attributes": categories,
        "attribute": "category",
        "groups": categories,
        "sha256": metadata_tables.sha256(path, split_path),
    }
    groups = a[:, None] == np.arange(len(categories))
    texts = [text.replace("\n", " ") for text in raw["reviewText"]]  # released code
    return Dataset(tokenize(texts, settings["tokens"], settings["vocabulary"]), table, about, groups)
