"""BREEDS Entity-30 (Santurkar et al. 2020): 30 kinds of entities, subclasses as groups (Zhang & Re 2022, Sec. 3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 320,000 images; at 224 pixels 48 GB of disk under
results/data."""

from functools import partial

from despur.datasets.sources import breeds

DECLARED_LIKE = "entity13"

PUBLISHED_SIZES = {"test": 12_000}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

# Santurkar et al. 2020: level 4 below everything, 8 subclasses of a class, source and target together (released code).
build = partial(breeds.build, level=4, ancestor="n00001740", subclasses=8, classes=30)
