"""Threes and fives of scikit-learn's digits, in four domains of color. A substitute for cmnist_3v5 without download.

365 real 8x8 scans. Training originals are rendered several times with small affine variations; the other originals
without variation, in several colors, so that no split is tiny. Splits share no original."""

from pathlib import Path

import numpy as np
import pandas as pd
from scipy.ndimage import affine_transform
from sklearn.datasets import load_digits

from despur.compute.randomness import derive_generator
from despur.datasets.sources.domain_coloring import OF_SPLIT, about_domains, inks, paint
from despur.samplers.labeled import label_ranks
from despur.specs.settings import Settings, choice, draw, float_, int_
from despur.storage.store import Array, Dataset

SETTINGS = {
    "sigma": float_(50.0, "as in cmnist_3v5", at_least=0),
    "outside": choice("clip", "as in cmnist_3v5", "clip", "redraw"),
    "coloring": choice("multiply", "as in cmnist_3v5", "multiply", "replace"),
    "size": int_(16, "pixels a side; the scans have 8", at_least=8),
    "variations": int_(4, "renderings of each training original", at_least=1),
    "draw": draw("which random split and coloring"),
}

# Chosen so that a run takes seconds: the paper's settings with larger, fewer steps; crops that keep more of smaller
# images.
PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "convnet", "batch_size": 64, "learning_rate": 0.005, "epochs": 15},
    "convnet": {"width": 16},
    "images": {"crop_scale": 0.3},
    "cl_dann": {"weight": 0.1},  # at 1 nothing is learned in so few steps
}

SOURCE = "sklearn.datasets.load_digits"
LICENSE = "CC BY 4.0"
SHARES = {"train": 0.6, "val": 0.1, "test_id": 0.1, "test_ood": 0.2}  # of the originals, as in cmnist_3v5
# of each held-out original: in the colors of its split by turns, each time a draw
RENDERINGS = {"val": 4, "test_id": 4, "test_ood": 2}
DEGREES, SCALE, SHIFT = 12.0, 0.1, 0.5  # largest variation; of the shift, in pixels of the scan


def vary(rng: np.random.Generator, scan: Array, size: int) -> Array:
    """A scan (8,8), 0..16, turned, scaled and shifted a little and enlarged, bilinear: (size,size), 0..255."""
    angle = np.deg2rad(rng.uniform(-DEGREES, DEGREES))
    zoom = np.exp(rng.uniform(-SCALE, SCALE))
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / zoom
    return enlarge(scan, size, turn, rng.uniform(-SHIFT, SHIFT, 2))


def enlarge(scan: Array, size: int, turn: Array, shift: Array) -> Array:
    """About the scan's center: output pixel o has the value of the scan at turn (o - c_o) / (size / 8) + c + shift."""
    matrix = turn * 8 / size
    offset = 3.5 + shift - matrix @ np.full(2, (size - 1) / 2)
    return np.clip(
        affine_transform(scan, matrix, offset, (size, size), order=1, mode="grid-constant") * (255 / 16), 0, 255
    )


def list_renderings(rng: np.random.Generator, originals: Array, variations: int) -> pd.DataFrame:
    """Which original is rendered in which domain: neighbors alternate between the domains of their split, and so do
    an original's renderings."""
    order = rng.permutation(originals)
    bounds = np.round(np.cumsum(list(SHARES.values()))[:-1] * len(order)).astype(int)
    parts = []
    for split, rows in zip(SHARES, np.split(order, bounds), strict=True):
        domains = np.array(OF_SPLIT[split])
        for i in range(variations if split == "train" else RENDERINGS[split]):
            a = domains[(np.arange(len(rows)) + i) % len(domains)]
            parts.append(pd.DataFrame({"split": split, "original": rows, "rendering": i, "a": a}))
    return pd.concat(parts, ignore_index=True)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Render and color; labels go to different originals first."""
    scans, size = load_digits(), settings["size"]
    rng = derive_generator("domain_digits", settings["draw"])
    table = list_renderings(rng, np.flatnonzero((scans.target == 3) | (scans.target == 5)), settings["variations"])
    train = (table["split"] == "train").to_numpy()
    still = np.eye(2), np.zeros(2)
    gray = [vary(rng, scan, size) if varied else enlarge(scan, size, *still)
            for scan, varied in zip(scans.images[table["original"]], train, strict=True)]  # fmt: skip
    table["digit"] = scans.target[table["original"]]
    table["y"] = (table["digit"] == 5).astype(np.int64)
    table["label_rank"] = -1
    table.loc[train, "label_rank"] = label_ranks(
        rng, table["y"].to_numpy()[train], table["rendering"].to_numpy()[train]
    )
    colored = paint(
        np.array(gray), inks(rng, table["a"].to_numpy(), settings["sigma"], settings["outside"]), settings["coloring"]
    )
    labels = {"8 labels": 8, "40 labels": 40, "all labels": int(train.sum())}
    return Dataset(colored, table, about_domains(size, labels, settings))
