"""The numbers that the paper states in sentences: the best hyper-parameters, how large gains are, how many classes
COCO has left."""

from typing import Any

import pandas as pd
from rows import BASES, accuracies

from despur.orchestration.experiments import ArtifactRun
from despur.reporting.tables import COLUMNS

SWEPT = {"best_lambda": "weight", "best_gamma": "uniformity", "worst_gamma": "uniformity"}
REST = {"weight": 1.0, "uniformity": 1.0, "vectors": 6}  # Fig. 5: the values of the settings that do not vary


class NotHere(LookupError):
    """A number that this run cannot give; the message says why."""


def level(runs: pd.DataFrame, metric: str) -> float:
    """The level of a setting with the best (or worst) mean accuracy of a linear classifier; the first of equals."""
    key = SWEPT[metric]
    mine = runs[(runs["artifact"] == "figure_5") & (runs["metric"] == "linear_top1") & (runs["split"] == "test")]
    for other, value in REST.items():
        mine = mine[(mine[other] == value) | (other == key)] if len(mine) else mine
    means = mine.groupby(key)["accuracy"].mean() if len(mine) else pd.Series(dtype=float)
    if len(means) < 2:
        raise NotHere(f"no run varies {key}")
    return float(means.idxmin() if metric.startswith("worst") else means.idxmax())


def gains(runs: pd.DataFrame) -> float:
    """The median gain of methods with MSR over those without, in points, over methods, data and printed metrics."""
    tested = runs[(runs["split"] == "test") & (runs["artifact"] != "figure_5")]
    means = (
        tested.groupby(["paper_method", "paper_dataset", "used_dataset", "metric"])["accuracy"]
        .mean()
        .unstack("paper_method")
    )
    pairs = [means[f"{base}_msr"] - means[base] for base in BASES if {base, f"{base}_msr"} <= set(means)]
    found = pd.concat(pairs).dropna() if pairs else pd.Series(dtype=float)
    if found.empty:
        raise NotHere("no method was run with and without MSR")
    return float(found.median())


def ours(number: Any, runs: pd.DataFrame) -> dict[str, Any]:
    """Our number, and its verdict where the data are the paper's."""
    if number.metric == "n_classes":
        from despur.datasets.coco30 import CATEGORIES

        return {
            "ours": float(len(CATEGORIES)),
            "data": "coco30",
            "seeds": 0,
            "verdict": "of the loader alone: not compared",
        }
    if number.metric in SWEPT:
        mine = runs[runs["paper_dataset"] == number.dataset]
        value = level(mine, number.metric)
        substitute, data = bool(mine["substitute"].any()), ", ".join(mine["data"].unique())
    else:
        value, substitute, data = gains(runs), bool(runs["substitute"].any()), ", ".join(runs["data"].unique())
    found = {"ours": value, "data": data, "seeds": max(int(runs["seed"].nunique()), 1)}
    if substitute:
        return found | {"verdict": "substitute data: not compared"}
    agrees = value < number.mean if number.metric.startswith("improvement") else value == number.mean
    return found | {"difference": value - number.mean, "verdict": "agrees" if agrees else "differs"}


def prose(printed: pd.DataFrame, artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each printed number, with the reason where there is none of ours."""
    runs, rows = accuracies(artifact_runs), []
    for number in printed.itertuples():
        base = {
            "paper_dataset": number.dataset,
            "method": number.method,
            "setting": number.setting,
            "metric": number.metric,
            "reported": number.mean,
            "reported_std": number.std,
            "note": number.note,
            "seeds": 0,
            "verdict": "not run here",
        }
        try:
            rows.append(base | ours(number, runs) | {"reason": ""})
        except NotHere as reason:
            rows.append(base | {"reason": str(reason)})
    return pd.DataFrame(rows, columns=[*COLUMNS, "reason"])
