"""BREEDS Entity-13 (Santurkar et al. 2020): 13 kinds of entities, subclasses as groups (Zhang & Re 2022, Sec. 3.2).

From your copies of ImageNet and of the hierarchy (breeds.py). About 350,000 images; at 224 pixels 52 GB of disk under
results/data."""

from functools import partial

from despur.datasets.sources import breeds
from despur.specs.declarations import read_declarations
from despur.specs.settings import int_

SETTINGS = {"size": int_(224, "released code: as CLIP sees images", at_least=32)}

# Zhang & Re 2022, released code: of the anchors a tenth an epoch, of each class as many as of the rarest.
PAPER_HYPERPARAMETERS = {"contrastive_adapter": {"anchor_fraction": 0.1, "balance_anchors": True}}

PUBLISHED_SIZES = {"test": 13_000}  # Russakovsky et al. 2015: 50 validation images of each of ImageNet's classes

RAW = (
    "breeds/dataset_class_info.json | imagenet_class_hierarchy/modified/dataset_class_info.json",
    "breeds/class_hierarchy.txt | imagenet_class_hierarchy/modified/class_hierarchy.txt",
    "breeds/node_names.txt | imagenet_class_hierarchy/modified/node_names.txt",
    *read_declarations("datasets", "imagenet")["RAW"],
)
BY_HAND = read_declarations("datasets", "imagenet")["BY_HAND"]
DOWNLOADS = tuple(
    {
        "url": "https://raw.githubusercontent.com/MadryLab/BREEDS-Benchmarks/master/imagenet_class_hierarchy/"
        f"modified/{name}",
        "file": f"breeds/{name}",
        "read_in": "MadryLab/BREEDS-Benchmarks, its list of files",
    }
    for name in ("class_hierarchy.txt", "dataset_class_info.json", "node_names.txt")
)

SOURCE = "https://github.com/MadryLab/BREEDS-Benchmarks/tree/master/imagenet_class_hierarchy/modified"
LICENSE = read_declarations("datasets", "imagenet")["LICENSE"]

# Santurkar et al. 2020: level 3 below everything, 20 subclasses of a class, source and target together (released code).
build = partial(breeds.build, level=3, ancestor="n00001740", subclasses=20, classes=13)
