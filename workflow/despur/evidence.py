"""What a claim's effect may ask of the runs behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from despur.store import Array

DRAWS = 2000


class Missing(LookupError):
    """A claim needs what was not run or measured here; the message says what."""


@dataclass
class Evidence:
    """What an effect may ask for, of the runs behind one artifact on one data set.

    Every answer is an array: the value from all seeds; then DRAWS values, each from seeds drawn with replacement and from one bootstrap
    sample of the test originals, the same for all methods; then one value for each seed alone.
    """

    metrics: pd.DataFrame
    resamples: pd.DataFrame
    seeds: list[int]
    draws: Array  # (DRAWS, seeds): positions of seeds

    def value(self, method: str, metric: str, group: str = "", split: str = "test", selection: str = "best", **where: Any) -> Array:
        """A metric of a printed method; ``where``: settings that a sweep varies (dots as underscores: data_p_corr='0.9')."""
        asked = {"printed": method, "metric": metric, "group": group, "split": split, "selection": selection}
        asked |= {self._column(key): str(v) for key, v in where.items()}
        point = self._series(self.metrics, asked, ["value"])[:, 0]
        columns = [c for c in self.resamples.columns if c.isdigit()]
        try:
            cloud = self._series(self.resamples, asked, columns)
        except Missing:  # not resampled: seconds, snapshots, agreement
            cloud = point[:, None]
        which = np.arange(DRAWS) % cloud.shape[1]
        drawn = np.mean([cloud[self.draws[:, i], which] for i in range(self.draws.shape[1])], axis=0)
        return np.concatenate([[np.mean(point)], drawn, point])

    def best(self, metric: str, *methods: str, **where: Any) -> Array:
        """The largest value of a metric over methods."""
        return np.max([self.value(method, metric, **where) for method in methods], axis=0)

    def least(self, metric: str, *methods: str, **where: Any) -> Array:
        """The smallest value of a metric over methods."""
        return np.min([self.value(method, metric, **where) for method in methods], axis=0)

    def levels(self, key: str) -> list[str]:
        """The values of a setting that these runs vary, numbers in rising order."""
        column = self._column(key)
        if column not in self.metrics:
            raise Missing(f"no run varies {key}")
        return sorted(self.metrics[column].dropna().astype(str).unique(), key=float)

    def over(self, key: str, method: str, metric: str, **where: Any) -> Array:
        """A metric at every level of a setting: (levels, ...)."""
        return np.array([self.value(method, metric, **where, **{key: level}) for level in self.levels(key)])

    def rise(self, key: str, method: str, metric: str, **where: Any) -> Array:
        """A metric at a setting's highest level, minus that at its lowest."""
        found = self.over(key, method, metric, **where)
        return found[-1] - found[0]

    def spread(self, key: str, method: str, metric: str, **where: Any) -> Array:
        """The largest minus the smallest value of a metric over the levels of a setting."""
        found = self.over(key, method, metric, **where)
        return found.max(axis=0) - found.min(axis=0)

    def gap(self, method: str, **where: Any) -> Array:
        """Mean over classes of average minus worst-group accuracy (Fig. 5d of Zhang et al. 2022)."""
        names = self.metrics.loc[self.metrics["metric"] == "class_average_accuracy", "group"].unique()
        return np.mean(
            [
                self.value(method, "class_average_accuracy", n, **where) - self.value(method, "class_worst_group_accuracy", n, **where)
                for n in names
            ],
            axis=0,
        )

    def _column(self, key: str) -> str:
        return next((c for c in self.metrics.columns if c.replace(".", "_") == key), key)

    def _series(self, table: pd.DataFrame, asked: dict[str, str], columns: Sequence[str]) -> Array:
        """Rows of a table for the seeds in common, (seeds, columns)."""
        named = " ".join(f"{key}={v}" for key, v in asked.items() if v)
        for key, wanted in asked.items():
            if key not in table:
                raise Missing(f"no run has {named}")
            table = table[table[key].astype(str) == wanted]
        table = table.drop_duplicates("seed").set_index("seed")
        if not len(table) or table[list(columns)].isna().all(axis=None):
            raise Missing(f"not measured: {named}")
        if not set(self.seeds) <= set(table.index):
            raise Missing(f"not all of seeds {self.seeds}: {named}")
        return table.loc[self.seeds, list(columns)].to_numpy(float)
