"""Less training data: the ratios of groups stay, and so does what is held out."""

import numpy as np
import pandas as pd
import pytest

from despur.datasets.sources.subsets import quotas, select_samples


@pytest.mark.parametrize("count", [4, 50, 100, 250, 999])
def test_groups_keep_their_ratios_and_have_at_least_one(count):
    sizes = np.array([3498, 184, 56, 1057])  # Waterbirds
    found = quotas(sizes, count)
    assert found.sum() == count and found.min() >= 1
    larger = found > 1
    assert np.abs(found - count * sizes / sizes.sum())[larger].max(initial=0) < 3


def test_a_hundredth_of_waterbirds_is_in_the_smallest_group():
    assert quotas(np.array([3498, 184, 56, 1057]), 100).tolist() == [73, 4, 1, 22]


def table(seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 600)
    a = np.where(rng.random(600) < 0.9, y, 1 - y)
    return pd.DataFrame({"split": np.repeat(["train", "val", "test"], 200), "y": y, "a": a})


def test_held_out_samples_are_all_kept_and_subsets_are_nested():
    full = table()
    kept = {count: select_samples(full, count, "made up") for count in (0, 40, 80)}
    assert len(kept[0]) == 600
    for count in (40, 80):
        split = full["split"].iloc[kept[count]]
        assert (split == "train").sum() == count and (split != "train").sum() == 400
    assert set(kept[40]) < set(kept[80])
    np.testing.assert_array_equal(kept[40], select_samples(full, 40, "made up"))


@pytest.mark.parametrize("count", [3, 201])
def test_too_few_or_too_many_samples_are_refused(count):
    with pytest.raises(ValueError, match=f"samples={count}: there are 200"):
        select_samples(table(), count, "made up")
