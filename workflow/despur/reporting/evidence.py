"""What a claim's effect may ask of the runs behind it, and what an answer decides."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from despur.reporting.printed import same
from despur.specs.settings import SettingError
from despur.storage.store import Array

DRAWS = 2000
SEEDS_ALONE = 5  # as many decide what no test data enters


class Missing(LookupError):
    """A claim needs what was not run or measured here; the message says what."""


def decide(found: Array, margin: float, resampled: bool, counted: bool = False) -> tuple[str, dict[str, Any]]:
    """On which side of a margin an effect lies (above, below, undecided), with its 95 % interval and, if no verdict is
    due, the reason.

    ``found``: as :class:`Evidence` answers. Of percentiles over seeds and test originals where ``resampled``, else
    Student's over seeds. What is ``counted`` is the same from every seed."""
    drawn, alone = found[1 : DRAWS + 1], found[DRAWS + 1 :]
    low, high = np.nanpercentile(drawn, [2.5, 97.5]) if resampled else interval(alone)
    evidence = {"low": low, "high": high}
    if not counted and len(alone) < 2:
        return "undecided", evidence | {"reason": "one seed: the interval is over test originals only"}
    if not counted and not resampled and len(alone) < SEEDS_ALONE:
        return "undecided", evidence | {"reason": f"no test data in it: less than {SEEDS_ALONE} seeds decide nothing"}
    return "above" if low > margin else "below" if high < margin else "undecided", evidence


def interval(alone: Array) -> tuple[float, float]:
    """Student's 95 % interval of a mean over seeds."""
    if len(alone) < 2 or np.ptp(alone) == 0:
        return alone.mean(), alone.mean()
    low, high = stats.t.interval(0.95, len(alone) - 1, alone.mean(), stats.sem(alone))
    return float(low), float(high)


@dataclass
class Evidence:
    """What an effect may ask for, of the runs behind one artifact on one data set.

    Every answer is an array: the value from all seeds; then DRAWS values, each from seeds drawn with replacement and
    from one bootstrap sample of the test originals, the same for all methods; then one value for each seed alone."""

    metrics: pd.DataFrame
    resamples: pd.DataFrame
    seeds: list[int]
    draws: Array  # (DRAWS, seeds): positions of seeds
    resampled: bool = False  # whether any answer so far was from bootstrap samples

    def value(
        self, method: str, metric: str, group: str = "", split: str = "test", selection: str = "best", **where: Any
    ) -> Array:
        """A metric of a printed method; ``where``: settings that a sweep varies (dots as underscores:
        data_p_corr='0.9').

        A metric that is not resampled (agreement of groups, the last step) is the same in each bootstrap sample.
        """
        asked = {"printed": method, "metric": metric, "group": group, "split": split, "selection": selection}
        point = self._series(self.metrics, asked, where, ["value"])[:, 0]
        columns = [c for c in self.resamples.columns if c.isdigit()]
        resampled = bool(columns) and len(self._rows(self.resamples, asked, where)) > 0
        self.resampled |= resampled
        cloud = self._series(self.resamples, asked, where, columns) if resampled else point[:, None]
        which = np.arange(DRAWS) % cloud.shape[1]
        drawn = np.mean([cloud[self.draws[:, i], which] for i in range(self.draws.shape[1])], axis=0)
        return np.concatenate([[np.mean(point)], drawn, point])

    def best(self, metric: str, *methods: str, **where: Any) -> Array:
        """The largest value of a metric over methods."""
        return np.max([self.value(method, metric, **where) for method in methods], axis=0)

    def least(self, metric: str, *methods: str, **where: Any) -> Array:
        """The smallest value of a metric over methods."""
        return np.min([self.value(method, metric, **where) for method in methods], axis=0)

    def over(
        self,
        key: str,
        method: str,
        metric: str,
        *,
        above: float = -math.inf,
        at_least: float = -math.inf,
        at_most: float = math.inf,
        **where: Any,
    ) -> Array:
        """A metric at every level of a setting within bounds, in rising order: (levels, ...)."""
        column = self._column(key)
        if column not in self.metrics:
            raise Missing(f"no run varies {key}")
        levels = {float(value) for value in self.metrics[column].dropna().unique()}
        found = [level for level in sorted(levels) if above < level and at_least <= level <= at_most]
        if not found:
            raise Missing(
                f"no run has {key} within {', '.join(map(str, (above, at_least, at_most)))}: only {sorted(levels)}"
            )
        return np.array([self.value(method, metric, **{**where, key: level}) for level in found])

    def rise(self, key: str, method: str, metric: str, **where: Any) -> Array:
        """A metric at a setting's highest level, minus that at its lowest."""
        found = self.over(key, method, metric, **where)
        if len(found) < 2:
            raise Missing(f"only one level of {key}")
        return found[-1] - found[0]

    def spread(self, key: str, method: str, metric: str, **where: Any) -> Array:
        """The largest minus the smallest value of a metric over the levels of a setting."""
        found = self.over(key, method, metric, **where)
        return found.max(axis=0) - found.min(axis=0)

    def classes(self, method: str, metric: str, **where: Any) -> Array:
        """A metric of each class: (classes, ...)."""
        names = self.metrics.loc[(self.metrics["metric"] == metric) & (self.metrics["group"] != ""), "group"].unique()
        if not len(names):
            raise Missing(f"not measured: {metric}")
        return np.array([self.value(method, metric, name, **where) for name in names])

    def gap(self, method: str, **where: Any) -> Array:
        """Mean over classes of average minus worst-group accuracy (Fig. 5d of Zhang et al. 2022)."""
        both = (self.classes(method, f"class_{kind}_accuracy", **where) for kind in ("average", "worst_group"))
        return np.mean(next(both) - next(both), axis=0)

    def slack(self, method: str, **where: Any) -> Array:
        """Smallest over classes of Eq. 6's bound (Zhang et al. 2022) minus what it bounds, worst-group minus average
        loss; nats."""
        bound, worst, average = (
            self.classes(method, f"class_{kind}", **where) for kind in ("bound", "worst_group_loss", "average_loss")
        )
        return np.min(bound - (worst - average), axis=0)

    def _column(self, key: str) -> str:
        return next((c for c in self.metrics.columns if c.replace(".", "_") == key), key)

    def _rows(self, table: pd.DataFrame, asked: dict[str, str], where: dict[str, Any]) -> pd.DataFrame:
        for key, wanted in asked.items():
            table = table[table[key] == wanted]
        for key, wanted in where.items():
            own = table.get(self._column(key), pd.Series(index=table.index, dtype=object))
            table = table[own.map(lambda value, wanted=wanted: same(value, wanted))]
        return table

    def _series(
        self, table: pd.DataFrame, asked: dict[str, str], where: dict[str, Any], columns: Sequence[str]
    ) -> Array:
        """Rows of a table for the seeds in common, (seeds, columns)."""
        named = " ".join(f"{key}={v}" for key, v in (asked | where).items() if v != "")
        table = self._rows(table, asked, where)
        if not len(table) or table[list(columns)].isna().all(axis=None):
            raise Missing(f"not measured: {named}")
        if table["seed"].duplicated().any():
            raise SettingError(f"several runs have {named}: name the settings that they vary")
        table = table.set_index("seed")
        if not set(self.seeds) <= set(table.index):
            raise Missing(f"not all of seeds {self.seeds}: {named}")
        return table.loc[self.seeds, list(columns)].to_numpy(float)
