"""Digits below five or from five on, each digit a group. A substitute for data sets with balanced subclasses (BREEDS).

The scenes of ``scene_digits``. The attribute is the position of the digit in its class, so that the class x attribute
groups are the ten digits. Backgrounds are independent of the class."""

from pathlib import Path

import numpy as np

from despur.datasets import scene_digits
from despur.datasets.sources.captions import DIGITS
from despur.specs.declarations import read_declarations
from despur.specs.settings import SettingError, Settings, float_, for_each, without
from despur.storage.store import Dataset

DECLARED_LIKE = "scene_digits"

SETTINGS = {
    **without(read_declarations("datasets", "scene_digits")["SETTINGS"], "skew", "test", "train", "foreground"),
    "class_share": float_(0.0, "BREEDS: balanced, classes as they come", at_least=0, below=1),
    "p_corr": float_(0.5, "share of a class on its background: no shortcut", at_least=0, at_most=1),
}

PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "lenet", "learning_rate": 0.01, "epochs": 12, "stage1": "two_tower"},
    "two_tower": {"epochs": 8, "learning_rate": 0.003},
    **for_each("linear_probe wise_ft dfr_probe", learning_rate=1.0),
    "adapter": {"hidden": 32, "learning_rate": 0.003},
    "contrastive_adapter": {
        **read_declarations("datasets", "scene_digits")["PAPER_HYPERPARAMETERS"]["contrastive_adapter"],
        "anchor_fraction": 0.25,
    },
}


def build(settings: Settings, data_root: Path) -> Dataset:
    """Raises SettingError for classes of different numbers of digits."""
    classes = settings["classes"].split("-")
    if len({len(members) for members in classes}) > 1 or len(classes[0]) < 2:
        raise SettingError(
            f"classes={settings['classes']}: subclasses need classes of equally many digits, at least two"
        )
    full = {**settings, "skew": "all", "test": "balanced", "train": "full", "foreground": False}
    dataset = scene_digits.build(full, data_root)
    position = {int(digit): i for members in classes for i, digit in enumerate(members)}
    table = dataset.table.assign(background=dataset.table["a"], a=dataset.table["digit"].map(position).astype(np.int64))
    attributes = [f"{i + 1}. digit" for i in range(len(classes[0]))]
    about = {**dataset.about, "attributes": attributes, "attribute": "digit"}
    relabeled = Dataset(dataset.inputs, table, about, masks=dataset.masks)
    relabeled.about["groups"] = [DIGITS[int(digit)] for members in classes for digit in members]
    return relabeled
