"""Runs under the paper's names, with what it derives from metrics: WiSE-FT's alpha, weighted averages, gaps, numbers of
trained parameters. What several artifacts share is counted once."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import weighted_averages
from despur.evidence.runs.artifact_metrics import load_metrics, load_resamples, rows_where
from despur.evidence.runs.run_files import load_abouts_of_rows
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.method_names import FULL, IMAGES, TRACKED, add_names
from despur.specs.names import parse
from despur.storage.finished_runs import list_bootstrap_columns

# parameters of torchvision's, with its 1,000 classes: over these Table 6 takes shares (a test counts them)
RESNET50 = 25_557_032
MODELS = ["artifact", "paper_dataset", "used_dataset", "substitute", "data", "backbone", "seed"]


def select_alphas(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of WiSE-FT on each data and backbone: the alpha with the best worst-group accuracy on validation, mean of seeds;
    ties: smaller."""
    worst = {"metric": "worst_group_accuracy", "split": "val", "selection": "best"}
    rows, keys = rows_where(metrics, paper_method="wise_ft", **worst), MODELS[:-1]
    means = rows.groupby([*keys, "alpha"])["value"].mean().reset_index()
    return means.sort_values("value", ascending=False, kind="stable").drop_duplicates(keys)[[*keys, "alpha"]]


def keep_alphas(table: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The table without WiSE-FT at other alphas than these."""
    ensembles = table["paper_method"] == "wise_ft"
    return pd.concat([table[~ensembles], table[ensembles].merge(chosen)], ignore_index=True)


def weigh_averages(table: pd.DataFrame) -> pd.DataFrame:
    """On Waterbirds, the average and the gap are weighted by the sizes of training groups (released code)."""
    table = table[table["metric"] != "gap"]
    return weighted_averages(table, table["paper_dataset"] == "waterbirds")


def add_gaps(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table, and the paper's gap: average minus worst group."""
    keys = [*MODELS, "paper_method", "method", "split", "selection"]
    overall = table[table["group"] == ""].set_index("metric")
    names = ("average_accuracy", "worst_group_accuracy")
    average, worst = (overall.loc[overall.index == name].set_index(keys) for name in names)
    gaps = (average[columns] - worst[columns]).dropna(how="all").reset_index().assign(metric="gap", group="")
    return pd.concat([table, gaps], ignore_index=True)


def add_parameters(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """The metrics, and of each run the number of its trained parameters and, for images, their share of those of a
    whole network: of ResNet-50 on the paper's data, on others of the smallest network that was trained as a whole."""
    abouts = load_abouts_of_rows(artifact_runs).items()
    counted = {(data, method, seed): about["trained_parameters"] for (_, data, method, seed), about in abouts}
    runs = metrics.drop_duplicates([*MODELS, "paper_method"]).assign(group="", split="test", selection="best")
    numbers = [counted.get((row.data, row.method, row.seed), np.nan) for row in runs.itertuples()]
    sizes = pd.Series(numbers, runs.index, dtype=float)
    substitute = runs["substitute"].astype(bool)
    whole = np.where(substitute, sizes[substitute & (runs["backbone"] == FULL)].min(), RESNET50)
    share = (sizes / whole).where(runs["backbone"].str.startswith(IMAGES))
    rows = [runs.assign(metric="trained_params", value=sizes), runs.assign(metric="trained_params_share", value=share)]
    return pd.concat([metrics, *rows], ignore_index=True).dropna(subset="value") if len(runs) else metrics


def select_tracked(table: pd.DataFrame) -> pd.DataFrame:
    """Of Figure 3: its methods on CLIP models, each run once, whichever artifacts show it."""
    shown = table[table["paper_method"].isin(TRACKED) & table["backbone"].str.startswith("clip")]
    return shown.drop_duplicates([*MODELS[1:], "paper_method", "split", "selection", "metric", "group"])


def add_zero_shot(table: pd.DataFrame) -> pd.DataFrame:
    """The table, and in Figure 5 zero-shot classification: that of Table 3, whose test data are the same."""
    subsets = rows_where(table, artifact="figure_5")
    zero = rows_where(table, artifact="table_3", paper_method="zero_shot")
    tables = [table]
    for (paper_dataset, used_dataset), part in subsets.groupby(["paper_dataset", "used_dataset"], sort=False):
        same = rows_where(zero, paper_dataset=paper_dataset, backbone={*part["backbone"]})
        bases = same["used_dataset"].map(lambda name: parse(name)[0])
        own = {"artifact": "figure_5", "used_dataset": used_dataset, "substitute": part["substitute"].iloc[0]}
        tables.append(same[bases == parse(used_dataset)[0]].assign(**own))
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
    """Metrics of the runs on all training samples, under the paper's names; each once, however many artifacts share
    it."""
    metrics = load_runs(artifact_runs, resampled=False)[0]
    if not len(metrics):
        return metrics
    levels = pd.to_numeric(metrics.get("data.samples", pd.Series(0, metrics.index))).fillna(0)
    value = ["seed", "split", "selection", "metric", "group"]
    return metrics[levels == 0].drop_duplicates(["paper_dataset", "data", "paper_method", "method", "backbone", *value])
