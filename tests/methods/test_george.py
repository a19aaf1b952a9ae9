"""GEORGE: Group DRO on subclasses."""

import numpy as np
from helpers import build, task

from despur.methods.gdro import GroupDRO


def test_groups_are_the_subclasses():
    y, subclass = np.array([0, 0, 0, 1, 1, 1, 1, 1]), np.array([0, 0, 1, 2, 2, 3, 4, 4])
    method = build("george", task(y, subclass))
    assert isinstance(method, GroupDRO)
    assert method.counts.tolist() == [2, 1, 2, 1, 2]
    assert method.group.values.tolist() == subclass.tolist()
    assert method.metadata() == {"subclass_sizes": [2, 1, 2, 1, 2]}


def test_shows_each_sample_once_unless_balanced():
    y, subclass = np.repeat([0, 1], 100), np.repeat([0, 1, 2], [100, 5, 95])
    shuffled = build("george+batch_size=64", task(y, subclass))
    assert sorted(np.concatenate(list(shuffled.epoch_batches(np.random.default_rng(0))))) == list(range(200))
    balanced = build("george+batch_size=64+sampler=balanced", task(y, subclass))
    drawn = np.concatenate(
        [np.concatenate(list(balanced.epoch_batches(np.random.default_rng(seed)))) for seed in range(10)]
    )
    assert abs(np.isin(drawn, np.arange(100, 105)).mean() - 1 / 3) < 5 * np.sqrt(2 / 9 / 2000)
