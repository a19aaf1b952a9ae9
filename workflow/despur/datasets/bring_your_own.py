"""Your own task: one file under ``bring_your_own/``, a parquet or an npz, with features, y, a and split
(docs/your_own_data.md)."""

from pathlib import Path
from typing import Any

import numpy as np

from despur.datasets.sources import embedding_files, own_files
from despur.specs.settings import Settings, int_, name
from despur.storage.store import MISSING, Dataset

SETTINGS = {
    "name": name("task", "NAME.parquet or NAME.npz under bring_your_own/ in the data root"),
    "size": int_(0, "images: side of the square that an encoder sees; 0: the shorter side", at_least=0),
}

# Without prompts, "zero-shot" is what the class embeddings say that come with the samples' embeddings; without those,
# use classes=means.
# No paper states settings here: training ends by validation data, evaluated every 200 steps and at the end of each
# epoch, and after the epochs of the method at the latest. Stage 1 ends soon after its log-likelihood has stopped
# rising, so that it does not fit every training sample: methods such as jtt work with those that it gets wrong.
PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "mlp", "evaluate_every": 200, "patience": 20},
    "stage1/erm": {"criterion": "log_likelihood", "patience": 3},
    "zero_shot": {"encoder": "identity", "classes": "given"},
}

LABELS_WITHHELD = "yours: nobody has said what may be passed on"

LICENSE = "yours"
RAW = ("bring_your_own/{name}.parquet | bring_your_own/{name}.npz",)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Classes and attribute values are numbered in sorted order; floats become float32. Attributes may be missing:
    empty, or -1."""
    path = own_files.find_own_file(data_root / "bring_your_own", settings["name"])
    features, table, of_classes = own_files.read_npz(path) if path.suffix == ".npz" else own_files.read_parquet(path)
    about: dict[str, Any] = {
        "attribute": "a",
        "source": str(path.name),
        "sha256": embedding_files.sha256(path),
    }
    # Of these two kinds of floats, pandas or parquet does not take all that follows.
    table = table.astype(dict.fromkeys(table.select_dtypes([np.float16, np.longdouble]), float))
    features, image = own_files.check_features(path, features)
    if image:
        about |= {"input": "image", "size": settings["size"] or min(features.shape[1:3]), "train_crop": "image"}
    missing = {"y": own_files.find_missing(table["y"]), "a": own_files.find_missing(table["a"], MISSING)}
    for key in ("y", "split", "original"):
        if key in table:
            own_files.refuse_missing(path, table[key], own_files.find_missing(table[key]))
    table = table.assign(split=own_files.read_splits(path, table["split"]))
    for key, names in (("y", "classes"), ("a", "attributes")):
        own_files.refuse_measured(path, table[key][~missing[key]])
        numbers, about[names] = own_files.number_values(table[key], missing[key])
        own_files.refuse_alike(path, key, about[names])
        table = table.assign(**{key: numbers})
    with np.errstate(over="ignore"):  # the dataset checks name the sample
        inputs = features if image else features.astype(np.float32)
    given = None if of_classes is None else of_classes.astype(np.float32)
    return embedding_files.dataset(path, inputs, table, {"input": "embedding", **about}, given)
