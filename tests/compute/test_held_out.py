"""The part of validation data that trains: drawn by seed, by originals, with equal shares of groups."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers import result, tiny_dataset

from despur.compute.held_out import divide_held_out, draw_held_out

RNG = np.random.default_rng


def run(seed=0, share=0.5):
    """A run of a method on held-out data."""
    name = "dfr_held_out" if share == 0.5 else f"dfr_held_out+held_out_share={share}"
    return next(iter(result(Path("results"), f"runs/colored_digits/{name}/s{seed}").runs()))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_each_group_has_its_share_and_something_of_each_selects(share):
    dataset = tiny_dataset(held_out=300)
    drawn = draw_held_out(dataset, share, RNG(0))
    rows = dataset.rows("val")
    assert set(drawn) < set(rows)
    for group in dataset.groups.T:
        size = group[rows].sum()
        assert group[drawn].sum() == (min(round(share * size), size - 1) if size else 0)


def test_samples_of_one_original_lie_on_one_side():
    dataset = tiny_dataset(held_out=100)
    dataset.table["original"] = dataset.table["original"] // 4
    divided = divide_held_out(dataset, run())
    train, select = (set(divided.table["original"][divided.rows(split)]) for split in ("held_out", "val"))
    assert train and select and not train & select


def test_the_parts_follow_from_the_seed_alone():
    dataset = tiny_dataset(held_out=100)
    first, again, other = (divide_held_out(dataset, run(seed)).rows("held_out") for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    more = divide_held_out(dataset, run(share=0.75)).rows("held_out")
    assert set(first) < set(more)
    assert divide_held_out(dataset, run()).test_splits == ["test"]


def test_other_methods_see_all_validation_data_select():
    dataset = tiny_dataset()
    assert divide_held_out(dataset, replace(run(), spec=replace(run().spec, settings={}))) is dataset
