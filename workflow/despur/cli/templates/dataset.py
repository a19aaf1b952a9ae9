"""NewDataset (authors and year): scikit-learn's wines. The attribute: is the alcohol above the median?"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from despur.compute.randomness import derive_generator
from despur.specs.settings import Settings, draw
from despur.storage.store import Dataset

SETTINGS = {"draw": draw("which random split")}

# The settings with which methods run on it, where they differ from their defaults; "*": of all methods.
PAPER_HYPERPARAMETERS = {"*": {"encoder": "mlp", "learning_rate": 0.1, "epochs": 20}}

SOURCE = "sklearn.datasets.load_wine"
LICENSE = "CC BY 4.0"


def build(settings: Settings, data_root: Path) -> Dataset:
    """Inputs are float32 embeddings (N,13), standardized; the table has one row for each. Raw files, if there are any,
    are read from ``data_root``, and named in RAW (despur/storage/raw_files.py)."""
    wine = load_wine()
    order = derive_generator("new_dataset", settings["draw"]).permutation(len(wine.data))
    split = np.array(["train", "val", "test", "train"])[order % 4]
    train = wine.data[split == "train"]  # scaled with training samples only
    inputs = (wine.data - train.mean(axis=0)) / train.std(axis=0)
    strong = wine.data[:, 0] > np.median(wine.data[:, 0])
    table = pd.DataFrame(
        {
            "split": split,
            "y": wine.target.astype(np.int64),  # positions in about["classes"]
            "a": strong.astype(np.int64),  # positions in about["attributes"]
            "original": np.arange(len(inputs)),  # samples made from the same original share it
        }
    )
    about = {
        "classes": [str(name) for name in wine.target_names],
        "attribute": "strength of the wine",
        "attributes": ["light", "strong"],
        "select": "val",  # the split that selects
        "headline": "test",  # the split that tables show
    }
    return Dataset(inputs.astype(np.float32), table, about)
