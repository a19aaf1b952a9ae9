"""Hate speech in English tweets, the author's age as the protected attribute (Huang et al. 2020; Shen et al. 2021,
Experiment 2).

As in the paper, a bi-GRU is trained first (CE, ``hate_speech_tweets``; seed 0) and then fixed: a tweet is its 400 last
states. Or, with features=vectors, vectors of your own: ``hate_speech/SPLIT.npy``, row by row of the files that
``hate_speech_tweets`` reads."""

from pathlib import Path

import numpy as np

from despur.datasets.hate_speech_tweets import tweets
from despur.datasets.sources import embedding_files, metadata_tables
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, component
from despur.storage.store import Dataset

DECLARED_LIKE = "hate_speech_tweets"

SETTINGS = {
    "features": choice(
        "embedded", "Experiment 2: by a bi-GRU that is trained first; vectors: SPLIT.npy", "embedded", "vectors"
    ),
    "source": component(
        "datasets",
        "hate_speech_tweets",
        "with features=embedded: what the model behind them is trained on, and encodes",
    ),
}

PAPER_HYPERPARAMETERS = {"*": read_declarations("datasets", "moji")["PAPER_HYPERPARAMETERS"]["*"]}

RAW = tuple(f"hate_speech/{split}.{end}" for end in ("tsv", "npy") for split in ("train", "valid", "test"))


def build(settings: Settings, data_root: Path) -> Dataset:
    """Vectors of your own; those of the bi-GRU are put in place by the data stage."""
    folder = data_root / "hate_speech"
    table, about = tweets(folder)
    inputs = []
    for split, part in table.groupby("split", sort=False):
        remedy = "Encode the tweets, or use features=embedded"
        path, vectors = embedding_files.find_vectors(folder / f"{split}.tsv", ".npy", part["rows"].iloc[0], remedy)
        about["sha256"] |= metadata_tables.sha256(path)
        inputs.append(np.asarray(vectors[part["row"]], np.float32))
    return embedding_files.dataset(folder, np.concatenate(inputs), table[["split", "y", "a"]], about)
