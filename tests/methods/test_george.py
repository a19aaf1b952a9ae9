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
