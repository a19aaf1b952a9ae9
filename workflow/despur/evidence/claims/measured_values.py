"""The tables of measured values behind the formulas of claims (evidence/statistics/formulas.py).

A measurement is what identifies one value of each seed: method, data set, metric, split and so on."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import is_same
from despur.evidence.runs.collapsed import mark_seeds
from despur.evidence.statistics.contrasts import SEEDS
from despur.evidence.statistics.formulas import DEFAULTS, Correlation
from despur.evidence.statistics.levels import MeasurementKeys, Missing
from despur.evidence.statistics.rank_correlations import complete, correlate_ranks, count_runs, fisher
from despur.specs.settings import SettingError
from despur.storage.finished_runs import list_bootstrap_columns
from despur.storage.store import Array

KEY_COLUMNS = {"method": "paper_method", "dataset": "paper_dataset"}  # of keys of a measurement that differ from it
POINTS = 5  # of fewer, no estimate says anything; of five, even a perfect one decides nothing


class AmbiguousValue(SettingError):
    """A claim does not say which of several values it means."""


class MeasuredValues:
    """A long table with a row for each value: columns of keys, ``seed``, ``value``; bootstrap values are in another
    such table.

    Values come as frames with a row for each seed: the column "value", then bootstrap values "0", "1", ... where
    there are any. Of seeds that collapsed there are none.
    """

    def __init__(self, metrics: pd.DataFrame, resamples: pd.DataFrame | None = None) -> None:
        collapsed = mark_seeds(metrics)
        self.metrics = metrics[~collapsed].reset_index(drop=True)
        self.collapsed = metrics[collapsed].reset_index(drop=True)
        self.resamples = pd.DataFrame() if resamples is None else resamples
        self._masks: dict[tuple[int, str, str], Array] = {}
        self._values: dict[frozenset[tuple[str, Any]], pd.DataFrame] = {}
        self._levels: dict[tuple[str, frozenset[tuple[str, Any]]], list[Any]] = {}

    def rows(self, table: pd.DataFrame, measurement: Mapping[str, Any]) -> pd.DataFrame:
        """The rows that have these values; where a key has a list of values, any of them."""
        wanted = {KEY_COLUMNS.get(key, key): value for key, value in measurement.items()}
        if not set(wanted) <= set(table):
            return table[:0]
        masks = [self._mark(table, column, value) for column, value in wanted.items()]
        return table[np.logical_and.reduce(masks)] if masks else table

    def _mark(self, table: pd.DataFrame, column: str, wanted: Any) -> Array:
        """Which rows have this value, or one of a list of them, in a column, bool (N,)."""
        key = (id(table), column, repr(wanted))
        if key not in self._masks:
            among, values = wanted if isinstance(wanted, list) else [wanted], table[column]
            same = [value for value in values.dropna().unique() if any(is_same(value, one) for one in among)]
            self._masks[key] = values.isin(same).to_numpy()
        return self._masks[key]

    def levels(self, key: str, measurement: MeasurementKeys) -> list[Any]:
        """The levels of a key where others are fixed: rising numbers, then words. An empty value is no level."""
        cache_key = (key, frozenset(measurement.items()))
        if cache_key not in self._levels:
            column_values = self.rows(self.metrics, measurement).get(KEY_COLUMNS.get(key, key), pd.Series(dtype=object))
            levels = {round_number(value) for value in column_values.dropna().unique() if value != ""}
            self._levels[cache_key] = sorted(levels, key=lambda value: (isinstance(value, str), value))
        return self._levels[cache_key]

    def keep_preferred(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Of rows that fit a measurement, those that are used: here all."""
        return rows

    def find_rows(self, measurement: MeasurementKeys) -> pd.DataFrame:
        """The rows that are used of a measurement, by seed. Raises Missing for none, AmbiguousValue for several
        values."""
        rows = self.keep_preferred(self.rows(self.metrics, measurement))
        if not len(rows) and len(self.rows(self.collapsed, measurement)):
            raise Missing(f"every seed collapsed: {spell_measurement(measurement)}")
        return require_one_row(rows, measurement)

    def value(self, measurement: MeasurementKeys) -> pd.DataFrame:
        """A measurement by seed. Raises Missing for no value, AmbiguousValue for several values."""
        key = frozenset(measurement.items())
        if key not in self._values:
            values = self.find_rows(measurement)[["value"]]
            drawn = self.rows(self.resamples, measurement)
            if len(drawn):
                drawn = require_one_row(drawn, measurement)
                values = values.join(drawn[list_bootstrap_columns(drawn)], how="inner")
            self._values[key] = values
        return self._values[key]

    def correlation(self, correlation: Correlation) -> tuple[pd.DataFrame, int]:
        """Fisher's z of a rank correlation by seed, over the points that all seeds have, and on bootstrap samples where
        all points have them; and how many independent points these are."""
        points, correlations = self._correlate(self.metrics, correlation, ["value"])
        number, needed = count_runs(points), max(correlation.count, POINTS)
        if number < needed or not len(correlations):
            raise Missing(f"{correlation.label}: {number} different runs in common, {needed} are needed")
        if len(self.resamples):
            resampled, drawn = self._correlate(self.resamples, correlation, list_bootstrap_columns(self.resamples))
            if set(resampled) == set(points):
                # where a metric is the same at all points, a bootstrap sample shows no association
                correlations = correlations.join(drawn.fillna(0), how="inner")
        return correlation.sign * fisher(correlations, number), number

    def _correlate(
        self, table: pd.DataFrame, correlation: Correlation, columns: list[str]
    ) -> tuple[pd.Index, pd.DataFrame]:
        """The points that can be compared (:func:`complete`), and the correlation over them: a row for each seed, the
        columns of the table."""
        first, second = (self._points(self.rows(table, term), correlation, columns) for _, term in correlation.terms)
        points, both = first.index.intersection(second.index), first.columns.intersection(second.columns)
        if not len(points):
            return points, pd.DataFrame()
        values = [metric_values.loc[points, both].to_numpy(float).T for metric_values in (first, second)]
        return points, pd.Series(correlate_ranks(*values), both).unstack(level=0)

    def _points(self, rows: pd.DataFrame, correlation: Correlation, columns: list[str]) -> pd.DataFrame:
        """Values with a row for each point, columns (column of the table, seed); complete."""
        over = [KEY_COLUMNS.get(key, key) for key in correlation.over]
        if missing := [key for key in over if key not in rows]:
            raise Missing(f"{correlation.label}: no run varies {', '.join(missing)}")
        kept = [name for name in columns if name == "value" or rows[name].notna().all()]  # else a group is not in it
        values = rows.drop_duplicates([*over, "seed"]).set_index([*over, "seed"])[kept].unstack("seed")
        return complete(values, SEEDS)


def round_number(value: Any) -> Any:
    """A number, where the value spells one; else the value."""
    try:
        return float(value)
    except ValueError:
        return value


def spell_measurement(measurement: MeasurementKeys) -> str:
    """``worst_group_accuracy of cnc on cmnist (data.p_corr=0.2)``: without what is the default."""
    words = {"metric": "", "method": " of ", "dataset": " on "}
    named = "".join(f"{word}{measurement[key]}" for key, word in words.items() if key in measurement)
    stated = {key: value for key, value in measurement.items() if key not in words and DEFAULTS.get(key) != value}
    others = ", ".join(f"{key}={value}" for key, value in stated.items())
    return f"{named} ({others})" if others else named


def require_one_row(rows: pd.DataFrame, measurement: MeasurementKeys) -> pd.DataFrame:
    """The rows, one for each seed. Raises Missing for none, AmbiguousValue for different values of a seed."""
    named = spell_measurement(measurement)
    if not len(rows):
        raise Missing(f"not measured: {named}")
    first = "value" if "value" in rows else "0"
    if not rows["seed"].is_unique:  # a run that several artifacts show
        rows = rows.drop_duplicates(["seed", first])
    if not rows["seed"].is_unique:
        raise AmbiguousValue(f"several values have {named}: name the settings in which they differ")
    if rows[first].isna().any():
        raise Missing(f"not a number: {named}")
    return rows.set_index("seed").sort_index()
