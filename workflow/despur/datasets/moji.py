"""Moji: sentiment of tweets as DeepMoji vectors, dialect as the protected attribute (Shen et al. 2021, Experiment 1).

Four files of vectors (N,2304), of Blodgett et al. 2016 as Ravfogel et al. 2020 encode them; the first word of a name
is the sentiment, the second says whether the dialect is African American English. The tweets cannot be passed on."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import embedding_files, metadata_tables
from despur.specs.settings import Settings, draw, float_, int_
from despur.storage.store import Dataset, InputError

SETTINGS = {
    "ratio": float_(
        0.8,
        "Experiment 1: 40/10/10/40, the share of a sentiment's training samples in its more frequent dialect",
        at_least=0,
        at_most=1,
    ),
    "train": int_(100_000, "Experiment 1: training samples, half of each sentiment", at_least=4),
    "held_out": int_(8_000, "Experiment 1: samples of dev, and of test, a quarter in each group", at_least=4),
    "draw": draw("which random rows of the files"),
}

# The values are in the paper's missing supplement: fairlib's, from the same authors; patience 5 and Adam are the
# paper's, the criterion the released code's.
PAPER_HYPERPARAMETERS = {
    "*": {
        "encoder": "mlp",
        "optimizer": "adam",
        "learning_rate": 3e-3,
        "weight_decay": 0.0,
        "batch_size": 1024,
        "epochs": 60,
        "patience": 5,
        "criterion": "log_likelihood",
    }
}

RAW = ("moji/pos_pos.npy", "moji/pos_neg.npy", "moji/neg_pos.npy", "moji/neg_neg.npy")
DOWNLOADS = tuple(
    {
        "url": f"https://storage.googleapis.com/ai2i/nullspace/deepmoji/{part}.npy",
        "file": f"moji/{part}.npy",
        "read_in": "shauli-ravfogel/nullspace_projection, download_data.sh",
    }
    for part in ("pos_pos", "pos_neg", "neg_pos", "neg_neg")
)

SOURCE = "https://storage.googleapis.com/ai2i/nullspace/deepmoji/"
LICENSE = "derived from tweets; see Blodgett et al. 2016"
FILES = {"pos_pos": (1, 1), "pos_neg": (1, 0), "neg_pos": (0, 1), "neg_neg": (0, 0)}  # file: sentiment, dialect


def build(settings: Settings, data_root: Path) -> Dataset:
    """Draw the rows of each class x attribute group; only those are read from the files."""
    folder = data_root / "moji"
    paths = {
        name: metadata_tables.find(folder, f"{name}.npy", f"Download the four files of {SOURCE} there")
        for name in FILES
    }
    files = {name: embedding_files.read_vectors(path) for name, path in paths.items()}
    dims = {vectors.shape[1] for vectors in files.values()}
    if len(dims) > 1:
        named = embedding_files.list_files(paths.values())
        raise InputError(f"{named} have vectors of {sorted(dims)} dimensions; they must agree")
    held_out = settings["held_out"] // 4
    rows, tables = {}, []
    for name, (y, a) in FILES.items():
        train = round(settings["train"] / 2 * (settings["ratio"] if y == a else 1 - settings["ratio"]))
        if len(files[name]) < train + 2 * held_out:
            raise InputError(
                f"{paths[name]} has {len(files[name])} rows, {train + 2 * held_out} are needed: lower train or held_out"
            )
        rows[name] = derive_generator(f"moji/{name}", settings["draw"]).permutation(len(files[name]))[
            : train + 2 * held_out
        ]
        split = np.repeat(["val", "test", "train"], [held_out, held_out, train])
        tables.append(pd.DataFrame({"split": split, "y": y, "a": a, "row": rows[name]}))
    inputs = np.empty((sum(map(len, tables)), dims.pop()), np.float32)
    ends = np.cumsum([len(table) for table in tables])
    for name, end, table in zip(FILES, ends, tables, strict=True):
        order = np.argsort(rows[name])  # read in the order of the file
        inputs[end - len(table) + order] = files[name][rows[name][order]]
    about = {
        **{"classes": ["sad", "happy"], "attributes": ["SAE", "AAE"], "attribute": "dialect"},
        "sha256": metadata_tables.sha256(*paths.values()),
    }
    return embedding_files.dataset(folder, inputs, pd.concat(tables), about)
