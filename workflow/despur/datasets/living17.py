"""BREEDS Living-17 (Santurkar et al. 2020): 17 kinds of living things, subclasses as groups (Zhang & Re 2022, Sec.
3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 92,000 images; at 224 pixels 14 GB of disk under
results/data."""

from functools import partial

from despur.datasets.sources import breeds

DECLARED_LIKE = "entity13"

PUBLISHED_SIZES = {"test": 3_400}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

# Santurkar et al. 2020: level 5 of living things, 4 subclasses a class, source and target together (released code).
build = partial(breeds.build, level=5, ancestor="n00004258", subclasses=4, classes=17)
