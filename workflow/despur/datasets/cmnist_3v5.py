"""Colored MNIST, 3 against 5, in four domains of color (Lewis et al. 2023, Sec. 3 and App. E).

11,548 images of MNIST's training set, as App. E says (Sec. 3 says 23,100); four of its 11,552 threes and fives are
left out."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.cmnist import SHA256, read_idx
from despur.datasets.sources.domain_coloring import about_domains, balanced, inks, paint
from despur.samplers.labeled import label_ranks
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, draw, float_, int_
from despur.storage.store import Dataset

DECLARED_LIKE = "cmnist"

SETTINGS = {
    "sigma": float_(
        50.0,
        "Sec. 3; Fig. 1, 3: 0, 25, 50, 75, 150. Called a variance, but N(mu, sigma^2): a standard deviation",
        at_least=0,
    ),
    "outside": choice("clip", "not stated: colors outside 0..255 are cut to it, or drawn again", "clip", "redraw"),
    "coloring": choice(
        "multiply",
        "not stated: gray is a share of the ink; replace: ink from threshold on, else black (in cmnist: else gray)",
        "multiply",
        "replace",
    ),
    "threshold": int_(128, "with coloring=replace: the darkest gray that is ink; not stated", at_least=1, at_most=255),
    "draw": draw("which random split and coloring; App. D: 5 random seeds of the data, draw=seed"),
}

PAPER_HYPERPARAMETERS = {"*": {"encoder": "convnet"}}  # App. D; what each method runs with is its default

RAW = read_declarations("datasets", "cmnist")["RAW"][:2]

SIZES = {"train": 6930, "val": 1154, "test_id": 1154, "test_ood": 2310}  # App. E
LABELS = {"1%": 69, "10%": 693, "100%": 6930}  # App. E


def build(settings: Settings, data_root: Path) -> Dataset:
    """Split, color, and order the labels of MNIST's threes and fives, 28x28."""
    images, digits = (read_idx(data_root, f"train-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
    rng = derive_generator("cmnist_3v5", settings["draw"])
    original = rng.permutation(np.flatnonzero((digits == 3) | (digits == 5)))[: sum(SIZES.values())]
    split = np.repeat(list(SIZES), list(SIZES.values()))
    y = (digits[original] == 5).astype(np.int64)
    a = balanced(rng, split)
    ink = inks(rng, a, settings["sigma"], settings["outside"])
    colored = paint(images[original], ink, settings["coloring"], settings["threshold"])
    rank = np.full(len(y), -1)
    rank[split == "train"] = label_ranks(rng, y[split == "train"])
    table = pd.DataFrame(
        {"split": split, "y": y, "a": a, "original": original, "digit": digits[original], "label_rank": rank}
    )
    about = {**about_domains(28, LABELS, settings), "sha256": SHA256}
    return Dataset(colored, table, about)
