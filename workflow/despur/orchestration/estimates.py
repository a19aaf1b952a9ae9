"""What resources.yaml says of data sets and encoders, and what a run is planned to train by it."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from despur.specs.spec import Spec
from despur.specs.yaml_files import load_file

FACTS = Path(__file__).parents[2] / "resources.yaml"


@cache
def load_estimates() -> dict[str, Any]:
    return load_file(FACTS)


def find_estimate(kind: str, name: str) -> Mapping[str, float]:
    """What the table says of a data set or an encoder; of one that it does not name, the row ``*``."""
    return load_estimates()[kind].get(name, load_estimates()[kind]["*"])


def count_images_and_steps(spec: Spec, dataset: str) -> tuple[float, float]:
    """Images that a run gives its network, in costs of a training step, and its steps, at most: nothing is known of
    early stopping."""
    s, data = spec.settings, find_estimate("datasets", dataset)
    if "epochs" not in s:  # an encoder is applied, forward only: a third
        return data["samples"] / 3, 0
    samples = s["epochs"] * data["train"] * s.get("anchor_fraction", 1.0) * s.get("label_fraction", 1.0)
    samples_of_a_step = s.get("accumulation", 1) if has_batch_for_each_anchor(spec) else s.get("batch_size", 32)
    cost = load_estimates()["second_order"] if s.get("second_order") else 1
    return samples * count_views(spec) * cost, samples / samples_of_a_step


def has_batch_for_each_anchor(spec: Spec) -> bool:
    """Whether a method contrasts each anchor with a batch of its own."""
    return "anchor_fraction" in spec.settings and "encoder" in spec.components


def count_views(spec: Spec) -> int:
    """Images that the network gets for each training sample."""
    if has_batch_for_each_anchor(spec):  # positives and negatives, from both sides
        return 2 * (spec.settings["num_positives"] + spec.settings["num_negatives"])
    if {"encoder", "augment"} <= set(spec.components):  # two random views
        return 2
    return 1
