"""BREEDS (Santurkar et al. 2020): ImageNet's classes as subclasses of the nodes at one level of a hierarchy.

ImageNet lies as imagenet_folders.py says; the published hierarchy in ``breeds/``: ``dataset_class_info.json``,
``class_hierarchy.txt``, ``node_names.txt``."""

import json
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.datasets.sources import image_files, metadata_tables
from despur.datasets.sources.imagenet_folders import REMEDY as IMAGENET_REMEDY
from despur.datasets.sources.imagenet_folders import list_images
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings
from despur.storage.store import Dataset, InputError

REVISION = 2  # images are cut to the pixel where torchvision cuts them
SOURCE, RAW = (read_declarations("datasets", "entity13")[name] for name in ("SOURCE", "RAW"))
REMEDY = f"Put the three files of {SOURCE} into breeds/ in the folder that DESPUR_DATA_ROOT names"
ROOT = "n00001740"  # entity


def read_leaves(path: Path) -> dict[str, str]:
    """Names of ImageNet's classes, by synset."""
    try:
        return {
            str(synset): str(name) for _, synset, name in json.loads(" ".join(metadata_tables.read_lines(path, REMEDY)))
        }
    except (ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{path} does not list ImageNet's classes ({error}). {REMEDY}") from error


def check_tree(path: Path, children: dict[str, list[str]]) -> None:
    """Raise InputError unless every node is below the root, and none below itself."""
    try:
        TopologicalSorter(children).prepare()
    except CycleError as error:
        raise InputError(f"{path}: {error.args[1][0]} is below itself. {REMEDY}") from error
    loose = set(children) - {ROOT}.union(*children.values())
    if loose or ROOT not in children:
        raise InputError(f"{path}: {min(loose, default=ROOT)} is below nothing, but only {ROOT} is on top. {REMEDY}")


class Hierarchy:
    """A tree of synsets above ImageNet's classes: ``names`` of all, first synonym; only what has a class below it."""

    def __init__(self, data_root: Path) -> None:
        info, edges, names = (metadata_tables.find(data_root, pattern, REMEDY) for pattern in RAW[:3])
        self.files = (info, edges, names)
        self.leaves = read_leaves(info)
        pairs = metadata_tables.read_fields(edges, None, 2, REMEDY)
        self.children = {parent: sorted(c for p, c in pairs if p == parent) for parent, _ in pairs}
        check_tree(edges, self.children)
        called = dict(metadata_tables.read_fields(names, "\t", 2, REMEDY))
        self.names = {synset: name.split(",")[0] for synset, name in (called | self.leaves).items()}
        self.find_classes = cache(self._find_classes)

    def _find_classes(self, node: str) -> frozenset[str]:
        leaf = {node} if node in self.leaves else set()
        return frozenset(leaf.union(*(self.find_classes(child) for child in self.children.get(node, []))))

    def descendants(self, node: str) -> set[str]:
        """This node and those below it that have a class below them."""
        nodes = {node} if self.find_classes(node) else set()
        return nodes.union(*(self.descendants(child) for child in self.children.get(node, [])))

    def level(self, node: str) -> int:
        """Edges of the longest way from the root."""
        parents = [parent for parent, children in self.children.items() if node in children]
        return 0 if node == ROOT else 1 + max(map(self.level, parents))

    def superclasses(self, level: int, ancestor: str, size: int) -> dict[str, list[str]]:
        """Nodes of a level below an ancestor, each with ``size`` of its classes as the authors draw them; smaller ones
        are left out."""
        rng = np.random.RandomState(2)  # theirs: which subclasses there are is part of the benchmark, not of a run
        nodes = sorted(node for node in self.descendants(ancestor) if self.level(node) == level)
        classes = {node: sorted(self.find_classes(node)) for node in nodes}
        return {
            node: sorted(rng.choice(synsets, size, replace=False))
            for node, synsets in classes.items()
            if len(synsets) >= size
        }


def find_superclasses(
    tree: Hierarchy, level: int, ancestor: str, subclasses: int, classes: int
) -> dict[str, list[str]]:
    """As in Hierarchy.superclasses. Raises InputError if there are not as many as published, or one has no name."""
    superclasses = tree.superclasses(level, ancestor, subclasses)
    info, edges, names = tree.files
    if len(superclasses) != classes:
        told = f"{len(superclasses)} classes of level {level} have {subclasses} subclasses, published are {classes}"
        raise InputError(f"{edges}, {info}: {told}. {REMEDY}")
    if nameless := set(superclasses) - set(tree.names):
        raise InputError(f"{names} has no name for {min(nameless)}, which {edges} lists. {REMEDY}")
    return superclasses


def build(settings: Settings, data_root: Path, level: int, ancestor: str, subclasses: int, classes: int) -> Dataset:
    """80 % of ImageNet's training images are for training, the others select; its validation images are the test split.

    The attribute is the place of a subclass in its class, in the order of their synsets; every image is an original of
    its own."""
    size = settings["size"]
    tree = Hierarchy(data_root)
    superclasses = find_superclasses(tree, level, ancestor, subclasses, classes)
    synsets = [synset for subclass_synsets in superclasses.values() for synset in subclass_synsets]
    _, train, test = list_images(data_root, synsets, f"{tree.files[0]} lists it. ")
    split = np.array(["train"] * len(train) + ["test"] * len(test), dtype=object)
    held_out = derive_generator("breeds/split").permutation(len(train))[: round(0.2 * len(train))]
    split[held_out] = "val"
    which = np.array([number for _, number in (*train, *test)])
    table = pd.DataFrame(
        {"split": split, "y": which // subclasses, "a": which % subclasses, "original": np.arange(len(which))}
    )
    paths = [path for path, _ in (*train, *test)]
    images = image_files.images(paths, size, image_files.as_clip, IMAGENET_REMEDY)
    dataset = Dataset(images, table, about(size, [tree.names[node] for node in superclasses], subclasses, tree.files))
    dataset.about["groups"] = [tree.names[synset] for synset in synsets]
    return dataset


def about(size: int, classes: list[str], subclasses: int, files: tuple[Path, ...]) -> dict[str, Any]:
    return {
        **image_files.WHOLE_IMAGES,
        "size": size,
        "classes": classes,
        "attributes": [f"{i + 1}. subclass" for i in range(subclasses)],
        "attribute": "subclass",
        "sha256": metadata_tables.sha256(*files),
    }
