"""Beyond the paper: where encoders look, and SimCLR with as much time as its regularized version takes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.evidence.runs.artifact_metrics import load_saliency, rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr.rows import OF_TIME, load_runs, load_seconds
from despur.storage.store import Array

RUN = ["paper_dataset", "used_dataset", "data", "substitute", "paper_method", "seed"]
SAME = ["paper_dataset", "used_dataset", "data", "seed", "machine", "metric"]  # what an interpolated curve shares
COMPARED = {"split": "test", "group": "", "metric": ["linear_top1", "knn5_top1"]}  # what has a time
TIMED = [*RUN[:-1], "epochs", "second_order", "machine", "metric"]  # a row of compare_times for each


def average_saliency(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """A row for each run: the mean share of a Grad-CAM map inside the foreground, and the share of the image that is
    foreground."""
    table = load_runs(artifact_runs, load_saliency)
    if not len(table):
        return pd.DataFrame(columns=[*RUN, "inside", "uniform", "samples"], dtype=float)
    measured = table.dropna(subset=["inside"])
    weighed = measured.assign(**{name: measured[name] * measured["samples"] for name in ("inside", "uniform")})
    sums = weighed.groupby(RUN, sort=False)[["inside", "uniform", "samples"]].sum().reset_index()
    return sums.assign(inside=sums["inside"] / sums["samples"], uniform=sums["uniform"] / sums["samples"])


def interpolation_weights(times: Array, wanted: float) -> Array:
    """Weights (K,) with which values at these times give the value at a wanted time, by linear interpolation; NaN
    outside of them."""
    if not times.min() <= wanted <= times.max():
        return np.full(len(times), np.nan)
    order = np.argsort(times)
    return np.array([np.interp(wanted, times[order], np.eye(len(times))[i][order]) for i in range(len(times))])


def interpolate_equal_time(table: pd.DataFrame, times: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    """SimCLR's rows at the time that SimCLR + MSR took, called ``simclr_equal_time``: interpolated between numbers of
    epochs, seed by seed, of the same machine.

    ``values``: the columns that are interpolated.
    """
    timed = rows_where(table.merge(times, on=OF_TIME), **COMPARED)
    with_msr = rows_where(timed, paper_method="simclr_msr", second_order=True)
    rows = []
    for row in with_msr.to_dict("records"):
        curve = rows_where(timed, paper_method="simclr", **{key: row[key] for key in SAME})
        if len(curve) > 1:
            weights = interpolation_weights(curve["seconds"].to_numpy(float), row["seconds"])
            interpolated = dict(zip(values, weights @ curve[list(values)].to_numpy(float), strict=True))
            rows.append(row | {"paper_method": "simclr_equal_time"} | interpolated)
    return pd.DataFrame(rows, columns=timed.columns)


def compare_times(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Mean accuracy (percent) and seconds by method, epochs and machine, and SimCLR at the time of SimCLR + MSR."""
    table = load_runs(artifact_runs)
    if not len(table):
        return pd.DataFrame(columns=[*TIMED, "seconds", "ours", "ours_std", "seeds"])
    times = load_seconds(artifact_runs)
    equal = interpolate_equal_time(table, times, ["value"])
    every = pd.concat([table.merge(times, on=OF_TIME), *([equal] if len(equal) else [])], ignore_index=True)
    rows = rows_where(every, **COMPARED)
    order = rows["second_order"].map({True: "second", False: "first"}).fillna("")
    rows = rows.assign(value=100 * rows["value"], second_order=order)
    return rows.groupby(TIMED, sort=False, dropna=False).agg(
        seconds=("seconds", "mean"), ours=("value", "mean"), ours_std=("value", "std"), seeds=("seed", "nunique")
    ).reset_index()  # fmt: skip
