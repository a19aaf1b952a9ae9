"""Held-out samples that train: a share of the split that selects, drawn by seed. The rest of it selects."""

import dataclasses

import numpy as np

from despur.compute.randomness import derive_generator
from despur.specs.paths import Run
from despur.storage.store import HELD_OUT, Array, Dataset


def divide_held_out(dataset: Dataset, run: Run) -> Dataset:
    """The data set as a run sees it. If its method declares ``held_out_share``, that share of the split that selects is
    the split ``held_out`` instead, which trains and never selects. It depends on data set, share and seed, not on the
    method."""
    if "held_out_share" not in run.spec.settings:
        return dataset
    rng = derive_generator(f"held_out/{run.data.base_name}", run.seed)
    split = dataset.table["split"].to_numpy(object, copy=True)
    split[draw_held_out(dataset, run.spec.settings["held_out_share"], rng)] = HELD_OUT
    return dataclasses.replace(dataset, table=dataset.table.assign(split=split))


def draw_held_out(dataset: Dataset, share: float, rng: np.random.Generator) -> Array:
    """Rows of a random share of the split that selects: of the originals of each class-attribute group, with all of
    their samples. At least one original of each group still selects."""
    rows = dataset.rows(dataset.about["select"])
    row_originals = dataset.table["original"].to_numpy()[rows]
    originals, first = np.unique(row_originals, return_index=True)
    group = (dataset.y * len(dataset.about["attributes"]) + dataset.a)[rows[first]]
    drawn = []
    for value in np.unique(group):
        members = rng.permutation(originals[group == value])
        drawn.append(members[: min(round(share * len(members)), len(members) - 1)])
    return rows[np.isin(row_originals, np.concatenate(drawn))] if drawn else rows
