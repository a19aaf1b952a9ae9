"""BREEDS Nonliving-26 (Santurkar et al. 2020): 26 kinds of things, subclasses as groups (Zhang & Re 2022, Sec. 3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 140,000 images; at 224 pixels 21 GB of disk under
results/data."""

from functools import partial

from despur.datasets.sources import breeds

DECLARED_LIKE = "entity13"

PUBLISHED_SIZES = {"test": 5_200}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

# Santurkar et al. 2020: level 5 of non-living things, 4 subclasses a class, source and target together (released code).
build = partial(breeds.build, level=5, ancestor="n00021939", subclasses=4, classes=26)
