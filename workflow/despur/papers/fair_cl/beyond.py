"""Beyond the paper: its baselines beside tuned ones, attackers that are not linear, and intervals of GAP over seeds
and test originals."""

from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.claims.claim_evidence import find_bounds
from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.numbers.tables import format_column, name_columns
from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.evidence.statistics.contrasts import Contrast
from despur.evidence.statistics.formulas import DEFAULTS
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.measurements import compare_means
from despur.papers.fair_cl.selections import DATASETS

COMPARED_AS = {
    **dict.fromkeys(["inlp", "adv"], "the paper's baseline"),
    **dict.fromkeys(selected_settings.TUNED, "tuned baseline"),
    **dict.fromkeys(["con_ft", "con"], "the paper's method"),
}
SHARES = {
    "average_accuracy": "accuracy",
    "gap": "gap",
    "leakage_representations": "leakage_h",
    "leakage_representations_nonlinear": "leakage_h_nonlinear",
    "leakage_logits": "leakage_yhat",
}
BASELINE_COLUMNS = [
    "paper_dataset", "method", "kind", *SHARES.values(), "gap_low", "gap_high", "tradeoff_tuned", "seeds", "data",
    "selected", "verdict",
]  # fmt: skip


def compare_baselines(artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each method and each data set that is used; percentages, means over seeds."""
    metrics, resamples = selected_settings.load_selected(artifact_runs)
    tradeoffs = compare_means(metrics)
    rows: list[dict[str, Any]] = []
    for paper_dataset in DATASETS:
        for method in selected_settings.METHODS:
            head = {"paper_dataset": paper_dataset, "method": method, "kind": COMPARED_AS.get(method, "")}
            asked = {"paper_dataset": paper_dataset, "paper_method": method}
            mine, cloud = (rows_where(table, **asked) for table in (metrics, resamples))
            for used_dataset, part in mine.groupby("used_dataset", sort=False):
                measured = measure_run(part, rows_where(cloud, used_dataset=used_dataset))
                key = ("tradeoff_tuned", paper_dataset, measured["data"], method)
                rows.append(head | measured | {"tradeoff_tuned": tradeoffs.get(key, np.nan)})
            if not len(mine):
                rows.append(head | {"seeds": 0, "verdict": NumberVerdict.NOT_RUN})
    return pd.DataFrame(rows, columns=BASELINE_COLUMNS)


def measure_run(metrics: pd.DataFrame, resamples: pd.DataFrame) -> dict[str, Any]:
    """The row of one method on one data set."""
    test = select_test(metrics, group="")
    means = test.groupby("metric")["value"].mean()
    low, high = find_interval(metrics, resamples)
    return {
        **{name: 100 * means[metric] for metric, name in SHARES.items()},
        "gap_low": 100 * low,
        "gap_high": 100 * high,
        "seeds": test["seed"].nunique(),
        "data": test["data"].iloc[0],
        "selected": test["method"].iloc[0],
        "verdict": NumberVerdict.SUBSTITUTE if test["substitute"].iloc[0] else "not in the paper",
    }


def find_interval(metrics: pd.DataFrame, resamples: pd.DataFrame) -> tuple[float, float]:
    """95 % interval of the mean GAP: what varies over seeds, and the noise of test originals, by the rule of claims."""
    values = MeasuredValues(metrics, resamples).value({**DEFAULTS, "metric": "gap"}).to_numpy(float)
    return find_bounds(Contrast(values[:, 0], values[:, 1:]))


def format_baselines(table: pd.DataFrame) -> pd.DataFrame:
    """The table in its display format."""
    table = table.sort_values("seeds", key=lambda seeds: seeds == 0, kind="stable")
    shown = {name: format_column(table[name]) for name in SHARES.values()}
    shown["gap"] = [
        "–" if pd.isna(row.gap) else f"{row.gap:.1f} [{row.gap_low:.1f}, {row.gap_high:.1f}]"
        for row in table.itertuples()
    ]
    shown["tradeoff_tuned"] = format_column(table["tradeoff_tuned"], "{:.2f}")
    display = table.assign(**shown).drop(columns=["gap_low", "gap_high"]).fillna("–")
    return name_columns(display, {"gap": "gap [95 % interval]", "tradeoff_tuned": "trade-off"})
