"""BREEDS Nonliving-26 (Santurkar et al. 2020): 26 kinds of things, subclasses as groups (Zhang & Re 2022, Sec. 3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 140,000 images; at 224 pixels 21 GB of disk under
results/data."""

from pathlib import Path

from despur.datasets.sources import breeds
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, int_
from despur.storage.store import Dataset

REVISION = 2  # images are cut to the pixel where torchvision cuts them
SETTINGS = {"size": int_(224, "released code: as CLIP sees images", at_least=32)}

# Zhang & Re 2022, released code: of the anchors a tenth an epoch, of each class as many as of the rarest.
PAPER_HYPERPARAMETERS = {"contrastive_adapter": {"anchor_fraction": 0.1, "balance_anchors": True}}

PUBLISHED_SIZES = {"test": 5_200}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

RAW = read_declarations("datasets", "entity13")["RAW"]
BY_HAND = read_declarations("datasets", "entity13")["BY_HAND"]
DOWNLOADS = read_declarations("datasets", "entity13")["DOWNLOADS"]

CLASSES = 26  # Santurkar et al. 2020


def build(settings: Settings, data_root: Path) -> Dataset:
    """Level 5 below non-living things, 4 subclasses of each class (source and target together: Sec. 3.2, released
    code)."""
    return breeds.build(data_root, settings["size"], level=5, ancestor="n00021939", subclasses=4, classes=CLASSES)
