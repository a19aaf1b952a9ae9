"""Your own task under ``bring_your_own/``: a parquet or an npz with features, y, a and split, or a folder with
metadata.csv that lists images or holds texts (docs/your_own_data.md)."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files, metadata_tables, own_files, own_labels
from despur.specs.settings import Settings, choice, int_, name
from despur.storage.store import MISSING, Array, Dataset

SETTINGS = {
    "name": name("task", "NAME.parquet, NAME.npz or NAME/metadata.csv under bring_your_own/ in the data root"),
    "size": int_(0, "images: side of the square that an encoder sees; 0: the shorter side", at_least=0),
    "resize": int_(224, "images of a folder: side of the square that each is made", at_least=8, at_most=2048),
    "fit": choice("crop", "images of a folder: the central square; or all of it, out of shape", "crop", "stretch"),
    "vocabulary": name(
        "words",
        "texts: their own words (encoder=bigru), or a language model's (bert; gpt2, roberta: encoder=language_model; "
        "any other: the model of encoder=hf)",
    ),
    "words": int_(15_000, "texts: how many of the most frequent training words; as bigru", at_least=1),
    "tokens": int_(300, "texts: a text is cut after so many", at_least=1, at_most=512),
}

# Without prompts, "zero-shot" is what the class embeddings say that come with the samples' embeddings; without those,
# use classes=means.
# No paper states settings here: training ends by validation data, evaluated every 200 steps and at the end of each
# epoch, and after the epochs of the method at the latest. Where groups are inferred from it, stage 1 ends soon after
# its log-likelihood has stopped rising, so that it does not fit every training sample: methods such as jtt work with
# those that it gets wrong.
PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "mlp", "evaluate_every": 200, "patience": 20},
    "stage1/erm": {"criterion": "log_likelihood", "patience": 3},
    "zero_shot": {"encoder": "identity", "classes": "given"},
}

LABELS_WITHHELD = "yours: nobody has said what may be passed on"

LICENSE = "yours"
RAW = (
    "bring_your_own/{name}.parquet | bring_your_own/{name}.npz | bring_your_own/{name}/metadata.csv",
    "bring_your_own/{name}.parquet | bring_your_own/{name}.npz | bring_your_own/{name}/**",
)
CLASS_EMBEDDINGS = "class_embeddings"


def build(settings: Settings, data_root: Path) -> Dataset:
    """Classes and attribute values are numbered in sorted order; floats become float32. Attributes may be missing:
    empty, or -1."""
    folder = data_root / "bring_your_own"
    path = own_files.find_own_file(folder, settings["name"])
    features, table, of_classes = read_file(path)
    about: dict[str, Any] = {
        "attribute": table.attrs.get("attribute", "a"),
        "source": str(path.relative_to(folder)),
        "sha256": metadata_tables.sha256(path),
    }
    checked = own_files.check_features(path, features) if features is not None else None
    table, names = number_labels(path, table)
    if checked is None:
        from despur.datasets.sources import own_folder  # brings Pillow, which the core of the package lacks

        inputs, kind = own_folder.read_inputs(path, table, settings)
    else:
        inputs, kind = convert(*checked, settings)
    given = None if of_classes is None else of_classes.astype(np.float32)
    kept = table.drop(columns=["path", "text"], errors="ignore")
    return embedding_files.dataset(path, inputs, kept, about | names | kind, given)


def read_file(path: Path) -> tuple[Array | None, pd.DataFrame, Array | None]:
    """Features, labels and class embeddings of a file; no features of one that lists images or holds texts."""
    if path.suffix == ".csv":
        from despur.datasets.sources import own_folder

        return own_folder.read_metadata(path)
    return own_files.read_npz(path) if path.suffix == ".npz" else own_files.read_parquet(path)


def number_labels(path: Path, table: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, list[str]]]:
    """The table with classes and attribute values as numbers and splits as names; what the values are called."""
    # Of these two kinds of floats, pandas or parquet does not take all that follows.
    table = table.astype(dict.fromkeys(table.select_dtypes([np.float16, np.longdouble]), float))
    missing = {"y": own_labels.find_missing(table["y"]), "a": own_labels.find_missing(table["a"], MISSING)}
    for key in ("y", "split", "original"):
        if key in table:
            own_labels.refuse_missing(path, table[key], own_labels.find_missing(table[key]))
    table, value_names = table.assign(split=own_labels.read_splits(path, table["split"])), {}
    for key, names in (("y", "classes"), ("a", "attributes")):
        own_labels.refuse_measured(path, table[key][~missing[key]])
        numbers, value_names[names] = own_labels.number_values(table[key], missing[key])
        own_labels.refuse_alike(path, key, value_names[names])
        table = table.assign(**{key: numbers})
    return table, value_names


def convert(features: Array, image: bool, settings: Settings) -> tuple[Array, dict[str, Any]]:
    """Features as they are held, and what is known of them."""
    if image:
        size = settings["size"] or min(features.shape[1:3])
        return features, {"size": size, "train_crop": "image"}
    with np.errstate(over="ignore"):  # the dataset checks name the sample
        return features.astype(np.float32), {}
