"""Hate speech in English tweets as words, for the bi-GRU that is trained first and then represents them in
``hate_speech``.

Under ``hate_speech/``: ``train.tsv``, ``valid.tsv`` and ``test.tsv`` with columns text, age and label, as Huang et al.
2020 write them (their ``data/split/English``; the texts are theirs to give). Authors without an age (x) are left out.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files, metadata_tables, text
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Array, Dataset, InputError

SETTINGS = {
    "length": int_(40, "Huang et al., released code: words of a tweet", at_least=1),
    "words": int_(15_000, "Huang et al., released code: most frequent words", at_least=1),
}

# Shen et al. 2021, Experiment 2: a bi-GRU with a cell size of 200. Adam and patience 5 are of all experiments; the
# rest is not stated.
PAPER_HYPERPARAMETERS = {
    "*": {
        **read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"],
        "encoder": "bigru",
        "learning_rate": 1e-3,
        "batch_size": 256,
    }
}

LABELS_WITHHELD = "given on request only; see Huang et al. 2020"

PUBLISHED_SIZES = {"train": 31e3, "val": 7e3, "test": 7e3}  # Shen et al. 2021, Experiment 2: rounded

RAW = ("hate_speech/train.tsv", "hate_speech/valid.tsv", "hate_speech/test.tsv")
BY_HAND = (
    "ask the authors of https://github.com/xiaoleihuang/Multilingual_Fairness_LREC for the English corpus; put its "
    "train.tsv, valid.tsv and test.tsv into hate_speech/"
)

SOURCE = "https://github.com/xiaoleihuang/Multilingual_Fairness_LREC"
LICENSE = "on request; see Huang et al. 2020"
OLDEST = 29  # years, of the younger group
HARMLESS = {"0", "no", "neither", "normal"}  # Huang et al., released code


def encode_ages(ages: pd.Series, path: Path) -> Array:
    """1 where an author is at most 29. Ages in years, or already 0 and 1 as Huang et al. write them (1: not above the
    median, 29)."""
    numbers = pd.to_numeric(ages, errors="coerce")
    if numbers.isna().any():
        raise InputError(f"{path}: age {ages[numbers.isna()].iloc[0]!r} is no number; x says that it is not known")
    coded = set(numbers.unique()) <= {0, 1}
    return (numbers if coded else numbers <= OLDEST).to_numpy().astype(np.int64)


def tweets(folder: Path) -> tuple[pd.DataFrame, dict[str, Any]]:
    """All three splits one after the other, as they are given: split, y, a, text, its row in a file of ``rows``; and
    what is known."""
    tables = []
    paths = {
        split: metadata_tables.find(folder, f"{split}.tsv", f"Ask the authors of {SOURCE} for it")
        for split in ("train", "valid", "test")
    }
    for split, path in paths.items():
        table = embedding_files.read_table(path, ("text", "age", "label"))
        table["row"], table["rows"] = np.arange(len(table)), len(table)
        table = table[table["age"].astype(str) != "x"]
        y = (~table["label"].astype(str).isin(HARMLESS)).to_numpy().astype(np.int64)
        kept = {"text": table["text"].astype(str), "row": table["row"], "rows": table["rows"]}
        tables.append(pd.DataFrame({"split": split, "y": y, "a": encode_ages(table["age"], path), **kept}))
    about = {
        **{"classes": ["harmless", "hate"], "attributes": ["> 29", "<= 29"], "attribute": "age"},
        "sha256": metadata_tables.sha256(*paths.values()),
    }
    return pd.concat(tables, ignore_index=True), about


def build(settings: Settings, data_root: Path) -> Dataset:
    """Numbers of words (N,length) of the training tweets' vocabulary."""
    folder = data_root / "hate_speech"
    table, about = tweets(folder)
    words = text.vocabulary(table["text"][table["split"] == "train"], settings["words"])
    inputs = text.tokens(list(table["text"]), words, settings["length"])
    return embedding_files.dataset(folder, inputs, table[["split", "y", "a"]], {"words": words, **about})
