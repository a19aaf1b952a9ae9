"""Digits on land or on water: 1,797 real 8x8 scans, enlarged, on generated textures. The attribute: the background.

A substitute for data sets with a spurious background: Waterbirds, CelebA, the fairness tasks, foreground against full
images. Most of the even classes are on land, most of the odd ones on water. Splits share no original. Settings of:

- Waterbirds: the default (95 % of a class on its background, 23 % in the second class, validation and test balanced
  over backgrounds)
- CelebA: ``class_share=0.15+p_corr=0.94+skew=last`` (only the rare class is skewed)
- Moji: ``class_share=0.5+p_corr=0.8`` (40/10/10/40); hate speech: the same with ``test=skewed``
- Bios, imSitu, foreground against full images: ``classes=0-1-2-3-4-5-6-7-8-9``
"""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from despur.compute.randomness import derive_generator
from despur.datasets.sources import scenes
from despur.datasets.sources.captions import DIGITS, SIDE
from despur.datasets.sources.subsets import select_samples
from despur.specs.declarations import read_declarations
from despur.specs.selfsupervised_hyperparameters import NT_XENT
from despur.specs.settings import Settings, bool_, choice, digit_classes, draw, float_, for_each, int_, without
from despur.storage.store import Array, Dataset

SETTINGS = {
    "classes": digit_classes("01234-56789", "two classes that need the whole shape, from all scans"),
    "class_share": float_(
        0.23, "Waterbirds: 1,113 of 4,795; the share of the second of two classes; 0: unchanged", at_least=0, below=1
    ),
    "p_corr": float_(
        0.95, "App. E.1 of Zhang et al. 2022, Waterbirds: share of a class on its background", at_least=0, at_most=1
    ),
    "skew": choice("all", "Waterbirds; last: other classes are half and half, as in CelebA", "all", "last"),
    "test": choice(
        "balanced", "App. E.1: each held-out original on both backgrounds; skewed: like training", "balanced", "skewed"
    ),
    "train": choice("full", "foreground: training and validation images without background", "full", "foreground"),
    "foreground": bool_(False, "a split test_foreground too: the test images without background"),
    "samples": read_declarations("datasets", "waterbirds")["SETTINGS"]["samples"],
    "copies": int_(3, "scenes of each training original: Waterbirds has 4,795 images; here, 700 originals", at_least=1),
    **without(read_declarations("datasets", "colored_digits")["SETTINGS"], "p_corr", "colors", "minority", "draw"),
    "draw": draw("which random split and scenes"),
}

# Chosen on validation so that a run takes seconds: the papers' settings with larger steps and fewer epochs.
PAPER_HYPERPARAMETERS = {
    "*": {"encoder": "lenet", "learning_rate": 0.01, "epochs": 8},
    "stage1/erm": {"epochs": 5, "learning_rate": 0.01},
    "two_tower": {"epochs": 8, "learning_rate": 0.003},
    # M = N = 17 on Waterbirds (App. E.2.4 of Zhang et al. 2022), half of that here. Small pools are drawn from with
    # replacement and slices are not cut: else a class with few minority samples would decide M, N and the number of
    # anchors. The paper's lambda of .75 and temperature of .05 are for tens of times as many steps: in a few hundred
    # steps, they teach little. Of 32 settings (these, rate, accumulation, clusters or predictions: App. E.2.3 chooses
    # likewise), this one has the best worst group on validation data, over five seeds. SupCon as CNC.
    **for_each(
        {"cnc": {"groups": "predictions", "shrink": False, "epochs": 4}, "supcon": {"epochs": 3}},
        **{"num_positives": 8, "num_negatives": 8, "truncate": False, "anchor_fraction": 0.1},
        **{"temperature": 0.5, "lambda": 0.25, "accumulation": 1},
    ),
    **for_each("jtt dann", epochs=5),
    "eiil": {"epochs": 10},
    "afr": {"epochs": 500},  # of one step each, as many as Qiu et al. have on Waterbirds
    # On a foundation model's embeddings (adapters); larger learning rates and smaller batches of anchors, as training
    # is short.
    **for_each("prompting dfr_inferred", stage1="two_tower"),
    **for_each("linear_probe wise_ft dfr_probe", stage1="two_tower", learning_rate=1.0, epochs=12),
    "adapter": {"stage1": "two_tower", "hidden": 32, "learning_rate": 0.003, "epochs": 12},
    "contrastive_adapter": {
        "stage1": "two_tower",
        "hidden": 32,
        "learning_rate": 0.003,
        "epochs": 12,
        "num_positives": 32,
        "num_negatives": 32,
        "num_neighbors": 64,
        "anchors_per_step": 16,
    },
    # Methods without labels (Qiang et al. 2022): a small encoder and projector; few steps, so the learning rate
    # does not drop; digits are not flipped.
    **for_each(
        {
            "simclr": NT_XENT,
            "wmse": {"slice": 128},
            "moco ressl": {"queue": 512},
            "ressl_msr": {"queue": 512, "msr_width": 8},
            "swav": {"prototypes": 64, "frozen_epochs": 0},
            "swav_msr": {"prototypes": 64, "frozen_epochs": 0, "msr_width": 8},
            "dcl": {"class_prior": 0.1},
            "dcl_msr": {"class_prior": 0.1, "msr_width": 8},
            "byol lmcl ssl_hsic relic barlow_twins cmc": {},
            "simclr_msr byol_msr lmcl_msr cmc_msr": {"msr_width": 8},
        },
        **{"encoder": "convnet", "learning_rate": 3e-3, "batch_size": 128, "epochs": 3, "warmup": 10, "decay": "none"},
        **{"projector_dim": 32, "projector_width": 64},
    ),
    "convnet": {"width": 8, "dim": 32, "dropout": 0.0},
    "images": {"crop_scale": 0.4, "blur": 0.0, "grayscale": 0.8},  # color jitter would take two thirds of the time
    "linear_classifier": {"epochs": 100, "batch_size": 500},
    "fine_tuning": {"epochs": 20, "batch_size": 32, "learning_rate": 0.05},
    # By the worst group on validation data of CNC with M = N = 17, lambda = .75, temperature = .05 (App. E.2.3), over
    # three seeds; the other was GMM on euclidean distances.
    "clusters": {"metric": "cosine", "algorithm": "kmeans"},
}

SOURCE = "sklearn.datasets.load_digits"
LICENSE = "CC BY 4.0"


def select_class_share(y: Array, rows: Array, share: float) -> Array:
    """As many of ``rows`` as possible such that ``share`` of them, to the nearest sample, are of the second class."""
    first, second = rows[y[rows] == 0], rows[y[rows] == 1]
    ratio = share / (1 - share)
    return np.concatenate([first[: round(len(second) / ratio)], second[: round(len(first) * ratio)]])


def backgrounds(rng: np.random.Generator, y: Array, settings: Settings) -> Array:
    """In each class exactly ``p_corr`` of the samples, to the nearest one, on the background of the class; which ones
    is random."""

    def share(label: int) -> float:
        return settings["p_corr"] if settings["skew"] == "all" or label == y.max() else 0.5

    return scenes.assign_backgrounds(rng, y, lambda label: label % 2, share)


def split_originals(y: Array, settings: Settings) -> dict[str, Array]:
    """Rows of the originals of each split; class -1 is left out."""
    order = derive_generator("scene_digits/split", settings["draw"]).permutation(np.flatnonzero(y >= 0))
    ends = np.cumsum([settings["test_fraction"], settings["val_fraction"]]) * len(order)
    rows = dict(zip(("test", "val", "train"), np.split(order, ends.round().astype(int)), strict=True))
    for split in rows:
        if y.max() == 1 and settings["class_share"] and (split == "train" or settings["test"] == "skewed"):
            rows[split] = select_class_share(y, rows[split], settings["class_share"])
    return rows


def plan(y: Array, settings: Settings) -> pd.DataFrame:
    """The scenes to make: split, original, class and background of each."""
    parts = []
    for split, rows in split_originals(y, settings).items():
        if split != "train" and settings["test"] == "balanced":
            original, a = np.repeat(rows, 2), np.tile([0, 1], len(rows))
        else:
            original = np.repeat(rows, settings["copies"] if split == "train" else 1)
            a = backgrounds(derive_generator(f"scene_digits/{split}", settings["draw"]), y[original], settings)
        parts.append(pd.DataFrame({"split": split, "y": y[original], "a": a, "original": original}))
    return pd.concat(parts, ignore_index=True)


def build(settings: Settings, data_root: Path) -> Dataset:
    """Scenes of 40x40 with the masks of the digits; a batch has crops of 32x32."""
    digits = load_digits()
    classes = settings["classes"].split("-")
    label = np.array([next((y for y, members in enumerate(classes) if str(d) in members), -1) for d in range(10)])
    table = plan(label[digits.target], settings)
    table["digit"] = digits.target[table["original"]]
    rng = derive_generator("scene_digits/scenes", settings["draw"])
    ink, masks = scenes.render_digits(rng, digits.images[table["original"]], SIDE)
    images = scenes.paste(rng, ink, masks, scenes.textures(rng, table["a"].to_numpy(), SIDE))
    before = np.unique(table["original"][table["split"] == "train"])
    kept = select_samples(table, settings["samples"], f"scene_digits/{settings['draw']}")
    images, masks, table = images[kept], masks[kept], table.iloc[kept].reset_index(drop=True)
    if settings["train"] == "foreground":
        bare = table["split"].isin(["train", "val"]).to_numpy()
        images[bare] = scenes.without_background(images[bare], masks[bare])
    if settings["foreground"]:
        test = np.flatnonzero(table["split"] == "test")
        images = np.concatenate([images, scenes.without_background(images[test], masks[test])])
        masks = np.concatenate([masks, masks[test]])
        table = pd.concat([table, table.iloc[test].assign(split="test_foreground")], ignore_index=True)
    named = about(settings)
    if settings["samples"]:  # the image-text model is trained on more than the task
        named["captioned_originals"] = before.tolist()
    return Dataset(images, table, named, masks=masks)


def about(settings: Settings) -> dict[str, Any]:
    """Names of classes and attributes, and how scenes are cropped."""
    classes = settings["classes"].split("-")
    return {
        "size": 32,
        "train_crop": settings["crop"],
        "test_crop": settings["test_crop"],
        "classes": [",".join(members) for members in classes],
        "class_words": [" or ".join(DIGITS[int(d)] for d in members) for members in classes],
        "attributes": ["land", "water"],
        "attribute": "background",
    }
