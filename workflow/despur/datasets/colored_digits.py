"""Colored scikit-learn digits: 1,797 real 8x8 scans, enlarged. A substitute for CMNIST* without download.

Validation and test originals are rendered once in each color, so that no evaluation group is tiny. Splits share no
original."""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from despur.compute.randomness import derive_generator
from despur.datasets.sources import coloring
from despur.specs.settings import Settings, choice, draw, float_, for_each
from despur.storage.store import Dataset

SETTINGS = {
    "p_corr": float_(0.9, "at the paper's .995 five of 1,078 images would be minority", at_least=0, at_most=1),
    "colors": choice("released", "five colors well apart; the paper's list has two reds", "paper", "released"),
    "minority": choice("other", "as in cmnist", "other", "any"),
    "val_fraction": float_(0.15, "originals held out for selection", above=0, below=0.5),
    "test_fraction": float_(0.25, "originals held out for testing", above=0, below=0.5),
    "crop": choice("image", "as in cmnist", "image", "presentation", "centre"),
    "test_crop": choice("centre", "as in cmnist", "centre", "random"),
    "draw": draw("which random split and coloring"),
}

# Chosen on validation so that a run takes seconds: the paper's settings with larger steps.
PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "lenet", "learning_rate": 0.01},
    "stage1/erm": {"epochs": 5},
    "erm": {"epochs": 8},
    "gdro": {"epochs": 10},
    "jtt": {"epochs": 4},
    # Small M and N, everywhere the same (drawn with replacement where pools are smaller still), so that sweeps
    # and ablations compare the same method.
    **for_each(
        {"cnc": {"epochs": 6, "shrink": False}, "supcon": {"epochs": 4}},
        **{"accumulation": 8, "anchor_fraction": 0.5, "num_positives": 4, "num_negatives": 4, "temperature": 0.1},
    ),
    "cvar_dro": {"epochs": 10},
    "lff": {"epochs": 8},
    "eiil": {"epochs": 10},
    "pgi": {"epochs": 20, "learning_rate": 0.03},
    "george": {"epochs": 10},
    "cim": {"epochs": 2},
}

SOURCE = "sklearn.datasets.load_digits"
LICENSE = "CC BY 4.0"


def build(settings: Settings, data_root: Path) -> Dataset:
    """Training originals in one color each; validation and test originals in all five."""
    digits = load_digits()
    y = (digits.target // 2).astype(np.int64)
    rng = derive_generator("colored_digits", settings["draw"])
    share = rng.permutation(len(y)) / len(y)
    bounds = np.array([settings["test_fraction"], settings["test_fraction"] + settings["val_fraction"]])
    split = np.array(["test", "val", "train"])[np.searchsorted(bounds, share, side="right")]
    once = np.flatnonzero(split == "train")
    every = np.repeat(np.flatnonzero(split != "train"), 5)
    rows = np.concatenate([once, every])
    a = np.concatenate(
        [
            coloring.correlated(rng, y[once], settings["p_corr"], settings["minority"]),
            np.tile(np.arange(5), len(every) // 5),
        ]
    )
    gray = (digits.images * (255 / 16)).astype(np.uint8)
    enlarged = coloring.resize(gray[..., None], 28)[..., 0]
    colored = coloring.colorize(enlarged[rows], coloring.rgb(settings["colors"])[a])
    table = pd.DataFrame({"split": split[rows], "y": y[rows], "a": a, "original": rows, "digit": digits.target[rows]})
    return Dataset(coloring.resize(colored, 40), table, coloring.about_colored(settings))
