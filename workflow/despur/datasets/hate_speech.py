"""Hate speech in English tweets, the author's age as the protected attribute (Huang et al. 2020; Shen et al. 2021, Experiment 2).

Under ``hate_speech/``: ``train.tsv``, ``valid.tsv`` and ``test.tsv`` with columns text, age and label, as Huang et al. write them (their
``data/split/English``; the texts are theirs to give). Authors without an age (x) are left out.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.settings import Settings, choice, whole
from despur.sources import raw, text
from despur.store import Array, Dataset, InputError

SETTINGS = {
    "features": choice("tokens", "Experiment 2: words, for the encoder bigru; vectors: SPLIT.npy of such an encoder", "tokens", "vectors"),
    "length": whole(40, "Huang et al., released code: words of a tweet", at_least=1),
    "words": whole(15_000, "Huang et al., released code: most frequent words", at_least=1),
}

# Experiment 2 trains the bi-GRU first and keeps it; with features=tokens it is trained with the rest. Its training is not described.
PUBLISHED = {
    "*": {
        "encoder": "bigru",
        "optimizer": "adam",
        "learning_rate": 1e-3,
        "weight_decay": 0.0,
        "batch_size": 256,
        "epochs": 60,
        "patience": 5,
        "criterion": "log_likelihood",
    },
}

SOURCE = "https://github.com/xiaoleihuang/Multilingual_Fairness_LREC"
OLDEST = 29  # years, of the younger group
HARMLESS = {"0", "no", "neither", "normal"}  # Huang et al., released code


def younger(ages: pd.Series, path: Path) -> Array:
    """1 where an author is at most 29. Ages in years, or already 0 and 1 as Huang et al. write them (1: not above the median, 29)."""
    numbers = pd.to_numeric(ages, errors="coerce")
    if numbers.isna().any():
        raise InputError(f"{path}: age {ages[numbers.isna()].iloc[0]!r} is no number; x says that it is not known")
    coded = set(numbers.unique()) <= {0, 1}
    return (numbers if coded else numbers <= OLDEST).to_numpy().astype(np.int64)


def build(settings: Settings, data_root: Path) -> Dataset:
    """All three splits one after the other, as they are given."""
    folder = data_root / "hate_speech"
    files, tables, inputs = [], [], []
    for split in ("train", "valid", "test"):
        path = raw.found(folder, f"{split}.tsv", remedy=f"Ask the authors of {SOURCE} for it")
        table = raw.read_table(path, ("text", "age", "label"))
        known = np.flatnonzero(table["age"].astype(str) != "x")
        files.append(path)
        if settings["features"] == "vectors":
            vectors = raw.read_vectors(raw.found(folder, f"{split}.npy", remedy="Encode the tweets, or ask for features=tokens"))
            if len(vectors) != len(table):
                raise InputError(f"{folder / split}.npy has {len(vectors)} rows, but {path} has {len(table)}")
            inputs.append(np.asarray(vectors[known], np.float32))
        table = table.iloc[known]
        y = (~table["label"].astype(str).isin(HARMLESS)).to_numpy().astype(np.int64)
        tables.append(pd.DataFrame({"split": split, "y": y, "a": younger(table["age"], path), "text": table["text"].astype(str)}))
    table = pd.concat(tables, ignore_index=True)
    about = {
        **{"input": "embedding", "classes": ["harmless", "hate"], "attributes": ["> 29", "<= 29"], "attribute": "age"},
        **{"source": SOURCE, "licence": "on request; see Huang et al. 2020", "sha256": raw.sha256(*files)},
    }
    if settings["features"] == "tokens":
        words = text.vocabulary(table["text"][table["split"] == "train"], settings["words"])
        inputs = [text.tokens(list(table["text"]), words, settings["length"])]
        about |= {"input": "tokens", "words": words}
    return raw.dataset(folder, np.concatenate(inputs), table.drop(columns="text"), about)
