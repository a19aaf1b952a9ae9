"""Printed ratios (trade-off, training time relative to CE's) beside ours: logarithms by seed, in the place of
percentages."""

import math

import numpy as np
import pandas as pd

from despur.evidence.numbers.sample_noise import is_drawn_by_seed, is_official
from despur.evidence.numbers.tables import judge_anew
from despur.evidence.numbers.verdicts import judge_logarithms, last_digit
from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.evidence.statistics.contrasts import Contrast
from despur.evidence.verdicts import NumberVerdict
from despur.storage.finished_runs import list_bootstrap_columns

RATIOS = ("tradeoff", "relative_time")
KEYS = ["metric", "paper_dataset", "data"]


def judge_ratios(table: pd.DataFrame, metrics: pd.DataFrame, resamples: pd.DataFrame, printed_seeds: int) -> None:
    """Write the verdicts of ratios on the paper's own data into Table 1: the rule of numbers on logarithms
    (despur/evidence/numbers/verdicts.py)."""
    half = {name: last_digit(rows["reported"]) for name, rows in table.groupby("metric")}
    for i, row in table[table["metric"].isin(RATIOS) & table["difference"].notna()].iterrows():
        if (row["metric"], row["method"]) == ("relative_time", "ce"):
            judged = {"verdict": NumberVerdict.NOT_COMPARED, "reason": "1 by definition"}
        else:
            logs = load_logarithms(metrics, row, ["value"])["value"].to_numpy(float)
            if row["metric"] != "relative_time":  # a trade-off is of means
                logs = logs + math.log(row["ours"]) - logs.mean()
            noise = find_test_variance(metrics, resamples, row, len(logs))
            judged = judge_logarithms(logs, row["reported"], printed_seeds, noise, half[row["metric"]])
        judge_anew(table, i, judged)


def load_logarithms(table: pd.DataFrame, row: pd.Series, columns: list[str]) -> pd.DataFrame:
    """Logarithms of a ratio by seed. Times: over CE's from the same seed, on the same machine (measurements.py)."""
    test = select_test(table, group="", **row[KEYS].to_dict())
    logs = {name: np.log(rows.set_index("seed")[columns].astype(float)) for name, rows in test.groupby("paper_method")}
    ratio_logs = logs[row["method"]]
    if row["metric"] != "relative_time":
        return ratio_logs
    return (ratio_logs - logs["ce"]).dropna() if "ce" in logs else ratio_logs[:0]


def find_test_variance(metrics: pd.DataFrame, resamples: pd.DataFrame, row: pd.Series, seeds: int) -> float:
    """Of the difference of two logarithms, by test samples: none of times, nor on the paper's own test split; else
    twice that of ours. NaN where it is not known."""
    data = rows_where(metrics, data=row["data"])
    if row["metric"] == "relative_time" or is_official(row["data"]) or is_drawn_by_seed(data):
        return 0.0
    if not len(rows_where(resamples, metric=row["metric"])):
        return math.nan
    drawn = load_logarithms(resamples, row, list_bootstrap_columns(resamples)).to_numpy()
    return 2 * float(Contrast(np.zeros(seeds), drawn).test_variance)
