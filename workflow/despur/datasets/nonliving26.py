"""BREEDS Nonliving-26 (Santurkar et al. 2020): 26 kinds of things, subclasses as groups (Zhang & Re 2022, Sec. 3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 140,000 images; at 224 pixels 21 GB of disk under
results/data."""

from pathlib import Path

from despur.datasets.sources import breeds
from despur.specs.settings import Settings
from despur.storage.store import Dataset

REVISION = 2  # images are cut to the pixel where torchvision cuts them
DECLARED_LIKE = "entity13"

PUBLISHED_SIZES = {"test": 5_200}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

CLASSES = 26  # Santurkar et al. 2020


def build(settings: Settings, data_root: Path) -> Dataset:
    """Level 5 below non-living things, 4 subclasses of each class (source and target together: Sec. 3.2, released
    code)."""
    return breeds.build(data_root, settings["size"], level=5, ancestor="n00021939", subclasses=4, classes=CLASSES)
