from pathlib import Path

import numpy as np

from despur.specs.resolution import resolve
from despur.storage.dataset_checks import build_dataset


def build(name):
    (spec,) = resolve("datasets", name).points
    return build_dataset(spec, Path("nowhere"))


def test_it_passes_the_checks_and_has_every_group_in_training():
    dataset = build("new_dataset")
    present = dataset.class_attribute_groups[dataset.rows("train")].any(axis=0)
    assert np.flatnonzero(~present).tolist() == [], "these groups have no sample in training"
    assert {*dataset.splits} == {"train", "val", "test"}


def test_another_draw_is_another_split():
    first, again, other = (build(name) for name in ("new_dataset", "new_dataset", "new_dataset+draw=1"))
    assert first.table.equals(again.table) and not first.table.equals(other.table)
