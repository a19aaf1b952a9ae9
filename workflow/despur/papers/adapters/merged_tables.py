"""Tables of several artifacts together: what they share, counted once."""

from collections.abc import Sequence

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.derived_metrics import (
    MODELS,
    add_gaps,
    add_parameters,
    keep_alphas,
    select_alphas,
    weigh_averages,
)
from despur.papers.adapters.method_names import TRACKED, add_names
from despur.specs.names import parse
from despur.storage.finished_runs import list_bootstrap_columns


def select_tracked(table: pd.DataFrame) -> pd.DataFrame:
    """Of Figure 3: its methods on CLIP models, each run once, whichever artifacts show it."""
    shown = table[table["paper_method"].isin(TRACKED) & table["backbone"].str.startswith("clip")]
    return shown.drop_duplicates([*MODELS[1:], "paper_method", "split", "selection", "metric", "group"])


def drop_repeats(metrics: pd.DataFrame) -> pd.DataFrame:
    """Without runs that several artifacts share."""
    return metrics.drop_duplicates(
        ["paper_dataset", "data", "paper_method", "method", "backbone", "seed", "split", "selection", "metric", "group"]
    )


def add_zero_shot(table: pd.DataFrame) -> pd.DataFrame:
    """The table, and in Figure 5 zero-shot classification: that of Table 3, whose test data are the same."""
    subsets = table[table["artifact"] == "figure_5"]
    zero = table[(table["artifact"] == "table_3") & (table["paper_method"] == "zero_shot")]
    tables = [table]
    for (paper_dataset, used_dataset), part in subsets.groupby(["paper_dataset", "used_dataset"], sort=False):
        same = zero[
            (zero["paper_dataset"] == paper_dataset)
            & zero["used_dataset"].map(lambda name, used_dataset=used_dataset: parse(name)[0] == parse(used_dataset)[0])
        ]
        same = same[same["backbone"].isin(part["backbone"])]
        tables.append(
            same.assign(artifact="figure_5", used_dataset=used_dataset, substitute=part["substitute"].iloc[0])
        )
    return pd.concat(tables, ignore_index=True)


def load_runs(artifact_runs: Sequence[ArtifactRun], resampled: bool = True) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics, and their bootstrap values, under the paper's names."""
    metrics, resamples = load_metrics(artifact_runs), load_resamples(artifact_runs) if resampled else pd.DataFrame()
    if not len(metrics):
        return metrics, resamples
    metrics = add_names(metrics)
    chosen = select_alphas(metrics)
    metrics = add_zero_shot(add_gaps(weigh_averages(keep_alphas(metrics, chosen)), ["value"]))
    metrics = add_parameters(metrics, artifact_runs)
    if len(resamples):
        columns = list_bootstrap_columns(resamples)
        resamples = add_zero_shot(add_gaps(weigh_averages(keep_alphas(add_names(resamples), chosen)), columns))
    return metrics, resamples


def load_metrics_of_all_samples(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics of the runs on all training samples, under the paper's names."""
    metrics = load_runs(artifact_runs, resampled=False)[0]
    if not len(metrics):
        return metrics
    levels = pd.to_numeric(metrics.get("data.samples", pd.Series(0, metrics.index))).fillna(0)
    return drop_repeats(metrics[levels == 0])
