"""Printed ratios (trade-off, training time relative to CE's) beside ours: logarithms by seed, in the place of
percentages."""

import math

import numpy as np
import pandas as pd

from despur.evidence.numbers.sample_noise import is_drawn_by_seed, is_official
from despur.evidence.numbers.verdicts import UNDECIDED, judge_number, last_digit, smallest_visible
from despur.evidence.statistics.contrasts import SEEDS, Contrast
from despur.storage.finished_runs import list_bootstrap_columns

RATIOS = ("tradeoff", "relative_time")
KEYS = ["metric", "paper_dataset", "data"]


def judge_ratios(table: pd.DataFrame, metrics: pd.DataFrame, resamples: pd.DataFrame, printed_seeds: int) -> None:
    """Write the verdicts of ratios on the paper's own data into Table 1: the rule of numbers (despur/reporting/
    verdicts.py) on logarithms, a percent of the ratio for a point. Deviations are not printed; ours count for both."""
    judged = table["metric"].isin(RATIOS) & table["difference"].notna() & (table["seeds"] >= SEEDS)
    half = {name: last_digit(own["reported"]) for name, own in table.groupby("metric")}
    for i, row in table[judged].iterrows():
        if (row["metric"], row["method"]) == ("relative_time", "ce"):
            table.loc[i, "verdict"] = "1 by definition: not compared"
            continue
        logs = load_logarithms(metrics, row, ["value"])["value"]
        if len(logs) < SEEDS:  # in common with CE, on one machine
            table.loc[i, "verdict"] = UNDECIDED
            continue
        mean = logs.mean() if row["metric"] == "relative_time" else math.log(row["ours"])  # a trade-off is of means
        noise = find_test_variance(metrics, resamples, row, len(logs))
        rounding = math.log1p(half[row["metric"]] / row["reported"])
        visible = smallest_visible(None, printed_seeds, logs.std(), len(logs), noise, rounding)
        table.loc[i, "smallest_visible"] = row["reported"] * math.expm1(visible)
        table.loc[i, "verdict"] = judge_number(100 * (mean - math.log(row["reported"])), 100 * visible)


def load_logarithms(table: pd.DataFrame, row: pd.Series, columns: list[str]) -> pd.DataFrame:
    """Logarithms of a ratio by seed. Times: over CE's from the same seed, on the same machine (times.py)."""
    test = table[(table["split"] == "test") & (table["selection"] == "best") & (table["group"] == "")]
    test = test[np.logical_and.reduce([test[key] == row[key] for key in KEYS])]
    logs = {name: np.log(own.set_index("seed")[columns].astype(float)) for name, own in test.groupby("paper_method")}
    own = logs[row["method"]]
    if row["metric"] != "relative_time":
        return own
    return (own - logs["ce"]).dropna() if "ce" in logs else own[:0]


def find_test_variance(metrics: pd.DataFrame, resamples: pd.DataFrame, row: pd.Series, seeds: int) -> float:
    """Of the difference of two logarithms, by test samples: none of times, nor on the paper's own test split; else
    twice that of ours. NaN where it is not known."""
    data = metrics[metrics["data"] == row["data"]]
    if row["metric"] == "relative_time" or is_official(row["data"]) or is_drawn_by_seed(data):
        return 0.0
    if not len(resamples) or not (resamples["metric"] == row["metric"]).any():
        return math.nan
    drawn = load_logarithms(resamples, row, list_bootstrap_columns(resamples)).to_numpy()
    return 2 * float(Contrast(np.zeros(seeds), drawn).test_variance)
