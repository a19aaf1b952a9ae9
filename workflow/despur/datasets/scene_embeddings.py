"""The scenes of ``scene_digits`` as principal components of the training images, computed without class or background.
A substitute for the embeddings of Shen et al. 2021 (DeepMoji, BERT, bi-GRU, ResNet).

- Moji: ``dims=5``, groups of 40/10/10/40 percent, test balanced; with more components CE, trained to its end, has
  hardly a GAP
- hate speech: ``dims=5+test=skewed``, the same skew in all splits
- Bios, imSitu: ``classes=0-1-2-3-4-5-6-7-8-9+p_corr=0.95``; nurse against surgeon: ``classes=8-3+p_corr=0.95``, as
  skewed as among the ten
"""

import dataclasses
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA

from despur.datasets import scene_digits
from despur.datasets.sources import captions
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, float_, int_, without
from despur.storage.store import Dataset

DECLARED_LIKE = "scene_digits"

SETTINGS = {
    **without(read_declarations("datasets", "scene_digits")["SETTINGS"], "train", "foreground", "crop", "test_crop"),
    "class_share": float_(0.5, "Moji: balanced classes; 0: as it comes", at_least=0, below=1),
    "p_corr": float_(0.8, "Experiment 1: 40/10/10/40", at_least=0, at_most=1),
    "dims": int_(32, "components; more are mostly noise of the textures", at_least=2),
}

# Small networks, few epochs: a run takes seconds. Chosen by validation accuracy, for CE and Con alike: with moji's
# patience and log-likelihood, runs of CE end in their first epoch or go on, by seed, and both methods are less
# accurate; with a sixth of these steps both are far from their best, Con farther (the contrastive part needs them),
# and what is compared is how fast they learn.
PAPER_HYPERPARAMETERS = {
    "*": {
        "encoder": "mlp",
        "optimizer": "adam",
        "learning_rate": 0.01,
        "weight_decay": 0.0,
        "batch_size": 128,
        "epochs": 20,
        "criterion": "average_accuracy",
    },
    "mlp": {"hidden": 100},
    "adv": {"hidden": 64},
}
SIDE = 32  # of the middle of a scene: what the encoders of images see


def build(settings: Settings, data_root: Path) -> Dataset:
    """Vectors (N,dims), each component with unit variance in training."""
    scenes = scene_digits.build(
        {**settings, "train": "full", "foreground": False, "crop": "centre", "test_crop": "centre"}, data_root
    )
    corner = (captions.SIDE - SIDE) // 2
    middle = scenes.inputs[:, corner : corner + SIDE, corner : corner + SIDE]
    pixels = np.asarray(middle, np.float32).reshape(len(middle), -1) / 255
    encoder = PCA(settings["dims"], whiten=True, svd_solver="randomized", random_state=0).fit(
        pixels[scenes.rows("train")]
    )
    kept = {key: value for key, value in scenes.about.items() if key not in ("size", "train_crop", "test_crop")}
    return dataclasses.replace(scenes, inputs=encoder.transform(pixels), about=kept, masks=None)
