"""Counts of data: sizes and shares of the groups of a split."""

import numpy as np
import pandas as pd

from despur.evidence.runs.data_counts import count_split
from despur.storage.store import Dataset


def test_shares_of_groups_are_of_their_split():
    table = pd.DataFrame({"split": ["train"] * 4 + ["test"], "y": [0, 0, 0, 1, 1], "a": [0, 0, 1, 1, 0]})
    about = {"classes": ["3", "5"], "attributes": ["red", "blue"]}
    rows = pd.DataFrame(count_split(Dataset(np.zeros((5, 0), np.float32), table, about, None), "train"))
    values = {metric: part["value"].tolist() for metric, part in rows.groupby("metric")}
    assert values["n_examples"] == [4] and values["attribute_share"] == [0.5, 0.5]
    assert values["group_size"] == [2, 1, 0, 1] and values["group_share"] == [0.5, 0.25, 0.0, 0.25]
    assert values["share_of_class"] == [2 / 3, 1 / 3, 0.0, 1.0]
