"""SpuCoMNIST: MNIST in five digit pairs on a colored background, which is easy or hard to learn (Joshi et al. 2023,
arXiv 2306.11957).

Made as the released code (BigML-CS-UCLA/SpuCo) makes it. Its LeNet pads images of 28x28 with two black pixels a side;
here they are stored so, as 32x32. It has a fixed list of validation images, a fifth of each digit, rounded down; here
as many are drawn. It can add label and feature noise, which is not made here."""

from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.cmnist import SHA256, read_idx
from despur.datasets.sources import coloring
from despur.specs.settings import Settings, choice, draw, float_
from despur.storage.store import Array, Dataset

DECLARED_LIKE = "cmnist"

SETTINGS = {
    "difficulty": choice(
        "magnitude_large",
        "released code, its examples: how much of the background has the color; the first of its kind is easiest",
        *("magnitude_large", "magnitude_medium", "magnitude_small", "variance_low", "variance_medium", "variance_high"),
    ),
    "p_corr": float_(
        0.995, "released code, its scripts: share of a class's training images in its color", above=0, at_most=1
    ),
    "val_fraction": float_(0.2, "released code: of each digit", above=0, below=1),
    "draw": draw("which validation images, colors and pixels"),
}

PAPER_HYPERPARAMETERS = {
    "*": {  # released code: quickstart/spuco_mnist/spuco_mnist_george.py
        "encoder": "lenet",
        "learning_rate": 1e-3,
        "weight_decay": 1e-2,
        "batch_size": 32,
        "epochs": 20,
    },
    "stage1/erm": {"epochs": 1},  # the same file
}

PUBLISHED_SIZES = {"train": 48_004, "val": 11_996, "test": 10_000}  # released code: its list of validation images

SIDE, BORDER, COLORS = 28, 2, 5
# Of a background, the pixels that have the color: side of a square in the upper left corner, and how many pixels of it,
# which are drawn for each image unless they are all. Magnitude is how many there are, variance how they differ.
BACKGROUNDS = {
    "magnitude_large": (28, 784),
    "magnitude_medium": (4, 16),
    "magnitude_small": (2, 4),
    "variance_low": (7, 49),
    "variance_medium": (14, 49),
    "variance_high": (28, 49),
}


def assign_colors(y: int, count: int, p_corr: float) -> Array:
    """Colors of ``count`` training images of class ``y``, (count,): the share ``p_corr`` is its own, the other four are
    equally frequent."""
    matching = int(p_corr * count)
    return np.concatenate([np.full(matching, y), (y + 1 + np.arange(count - matching) % (COLORS - 1)) % COLORS])


def draw_backgrounds(rng: np.random.Generator, difficulty: str, count: int) -> Array:
    """Which pixels have the color where there is no ink, boolean (count,28,28)."""
    side, pixels = BACKGROUNDS[difficulty]
    corner = np.full((count, side * side), pixels == side * side)
    if pixels < side * side:
        for row in corner:
            row[rng.choice(side * side, pixels, replace=False)] = True
    return np.pad(corner.reshape(count, side, side), ((0, 0), (0, SIDE - side), (0, SIDE - side)))


def build(settings: Settings, data_root: Path) -> Dataset:
    """Split MNIST and color what is black: ink keeps its gray. Held-out images have all colors equally often."""
    gray = np.concatenate([read_idx(data_root, f"{part}-images-idx3-ubyte.gz") for part in ("train", "t10k")])
    train, test = (read_idx(data_root, f"{part}-labels-idx1-ubyte.gz") for part in ("train", "t10k"))
    digits = np.concatenate([train, test])
    y = (digits // 2).astype(np.int64)
    rng = derive_generator("spuco_mnist", settings["draw"])
    split = np.array(["train"] * len(train) + ["test"] * len(test), object)
    for digit in range(10):
        digit_rows = rng.permutation(np.flatnonzero(train == digit))
        split[digit_rows[: int(settings["val_fraction"] * len(digit_rows))]] = "val"
    a = np.empty_like(y)
    for part in ("train", "val", "test"):
        for label in range(COLORS):
            rows = rng.permutation(np.flatnonzero((split == part) & (y == label)))
            of_all = np.arange(len(rows)) % COLORS
            a[rows] = assign_colors(label, len(rows), settings["p_corr"]) if part == "train" else of_all
    colored = draw_backgrounds(rng, settings["difficulty"], len(y)) & (gray == 0)
    images = np.where(colored[..., None], coloring.rgb("released")[a][:, None, None], gray[..., None])
    padded = np.pad(images, ((0, 0), (BORDER, BORDER), (BORDER, BORDER), (0, 0)))
    table = pd.DataFrame({"split": split, "y": y, "a": a, "original": np.arange(len(y)), "digit": digits})
    about = coloring.about_colored({"crop": "centre", "test_crop": "centre"}) | {"sha256": SHA256}
    return Dataset(padded, table, about)
