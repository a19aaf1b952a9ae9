"""The variance of the difference between a printed number and ours that comes from test samples."""

from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import at_settings
from despur.evidence.numbers.verdicts import share_variance
from despur.evidence.runs.artifact_metrics import rows_where
from despur.evidence.statistics.contrasts import Contrast
from despur.specs.declarations import read_declarations
from despur.specs.names import parse
from despur.storage.finished_runs import list_bootstrap_columns

NO_SHARES = ("tpr_gap",)  # metrics that are no share of test samples


def is_official(data: str) -> bool:
    """Whether the test split is the paper's own: that of data which is not drawn anew here."""
    return "draw" not in read_declarations("datasets", parse(data)[0])["SETTINGS"]


def is_drawn_by_seed(runs: pd.DataFrame) -> bool:
    """Whether each seed has a test split of its own (``draw=seed``)."""
    return "used_dataset" in runs and bool(runs["used_dataset"].str.contains("draw=seed", regex=False).any())


def sample_variance(number: Any, runs: pd.DataFrame, data: str, resamples: pd.DataFrame | None = None) -> float:
    """In squared percentage points; none on the paper's own official test split, which is the same for both numbers;
    and none where each seed has a test split of its own, as that is in the deviation over seeds already. ``draw=seed``
    is for papers that draw for each seed, too.

    Else the paper's test split is another one of the same size, so that ours counts twice. ``number``: a printed
    number; ``runs``: rows of its method on the data, at its settings, and how many ``samples`` each group has. NaN
    where it is not known.
    """
    if is_official(data) or is_drawn_by_seed(runs):
        return 0.0
    if number.metric in NO_SHARES:
        return 2e4 * bootstrap_variance(number, data, resamples)
    means = runs[runs["group"] == ""].groupby("metric")["value"].mean()
    sizes = runs[(runs["metric"] == "samples") & (runs["value"] > 0)].drop_duplicates(["seed", "group"])
    average = sizes.groupby("seed")["value"].sum().mean()
    of_worst = share_variance(float(means.get("worst_group_accuracy", np.nan)), count_worst_group(runs))
    if number.metric == "worst_group_accuracy":
        return 2e4 * of_worst
    if number.metric == "gap":  # average minus worst group: of both parts
        return 2e4 * (of_worst + share_variance(float(means["average_accuracy"]), float(average)))
    return 2e4 * share_variance(float(means[number.metric]), float(average))


def count_worst_group(runs: pd.DataFrame) -> float:
    """How many samples the worst group has, mean over seeds; of equally bad groups, the smallest. NaN where the
    accuracy of groups is not known."""
    group_rows = runs[runs["metric"].isin(["accuracy", "samples"])].drop_duplicates(["seed", "group", "metric"])
    groups = group_rows.pivot(index=["seed", "group"], columns="metric", values="value").dropna()
    if not {"accuracy", "samples"} <= set(groups):
        return float("nan")
    groups = groups[groups["samples"] > 0].sort_values(["accuracy", "samples"])
    return float(groups.groupby("seed")["samples"].first().mean())


def bootstrap_variance(number: Any, data: str, resamples: pd.DataFrame | None) -> float:
    """V_test of the bootstrap values of what is no share (despur/evidence/statistics/contrasts.py), at the number's
    settings; NaN where there are none. A seed counts once, however many artifacts show its run."""
    if resamples is None or not len(resamples):
        return float("nan")
    of_number = {"paper_dataset": number.dataset, "paper_method": number.method, "metric": number.metric}
    rows = rows_where(resamples, data=data, selection="best", group="", **of_number)
    rows = at_settings(rows, number.setting).drop_duplicates("seed")
    values = rows[list_bootstrap_columns(rows)].to_numpy(float)
    return float(Contrast(values[:, 0], values).test_variance) if len(values) > 1 else float("nan")
