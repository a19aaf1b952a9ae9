"""What the paper derives from metrics: WiSE-FT's alpha, weighted averages, gaps, numbers of trained parameters."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import weighted_averages
from despur.evidence.runs.run_files import load_abouts_of_rows
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.method_names import FULL, IMAGES

# parameters of torchvision's, with its 1,000 classes: over these Table 6 takes shares (a test counts them)
RESNET50 = 25_557_032
MODELS = ["artifact", "paper_dataset", "used_dataset", "substitute", "data", "backbone", "seed"]


def select_alphas(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of WiSE-FT on each data and backbone: the alpha with the best worst-group accuracy on validation, mean of seeds;
    ties: smaller."""
    rows = metrics[
        (metrics["paper_method"] == "wise_ft") & (metrics["split"] == "val") & (metrics["selection"] == "best")
    ]
    keys = MODELS[:-1]
    means = rows[rows["metric"] == "worst_group_accuracy"].groupby([*keys, "alpha"])["value"].mean().reset_index()
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
    average, worst = (
        overall.loc[overall.index == name].set_index(keys) for name in ("average_accuracy", "worst_group_accuracy")
    )
    gaps = (average[columns] - worst[columns]).dropna(how="all").reset_index().assign(metric="gap", group="")
    return pd.concat([table, gaps], ignore_index=True)


def add_parameters(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """The metrics, and of each run the number of its trained parameters and, for images, their share of those of a
    whole network: of ResNet-50 on the paper's data, on others of the smallest network that was trained as a whole."""
    abouts = load_abouts_of_rows(artifact_runs).items()
    counted = {(data, method, seed): about["trained_parameters"] for (_, data, method, seed), about in abouts}
    runs = metrics.drop_duplicates([*MODELS, "paper_method"]).assign(group="", split="test", selection="best")
    sizes = pd.Series(
        [counted.get((row.data, row.method, row.seed), np.nan) for row in runs.itertuples()],
        runs.index,
        dtype=float,
    )
    substitute = runs["substitute"].astype(bool)
    whole = np.where(substitute, sizes[substitute & (runs["backbone"] == FULL)].min(), RESNET50)
    share = (sizes / whole).where(runs["backbone"].str.startswith(IMAGES))
    rows = [runs.assign(metric="trained_params", value=sizes), runs.assign(metric="trained_params_share", value=share)]
    return pd.concat([metrics, *rows], ignore_index=True).dropna(subset="value") if len(runs) else metrics
