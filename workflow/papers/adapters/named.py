"""The paper's names for the runs of this paper folder: printed methods that share one job, foundation models, selected
alphas; and the gaps that the paper derives from accuracies."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from despur.orchestration.experiments import ArtifactRun
from despur.reporting.printed import weighted_averages
from despur.reporting.tables import load_metrics, load_resamples
from despur.specs.names import parse
from despur.specs.resolution import resolve

VARIANTS = {  # printed methods that share the job of another one: that job, and the settings that tell them apart
    "group_prompt": ("zero_shot", {"prompts": "group"}),
    "dfr_subsample": ("dfr", {"resample": "subsample"}),
    "dfr_upsample": ("dfr", {"resample": "upsample"}),
    "dfr_logistic_subsample": ("dfr_logistic", {"resample": "subsample"}),
    "dfr_logistic_upsample": ("dfr_logistic", {"resample": "upsample"}),
    "adapter": ("contrastive_adapter", {"contrastive": False, "sampling": "random"}),
    "adapter_hard_sampling_only": ("contrastive_adapter", {"contrastive": False, "sampling": "hard"}),
    "adapter_contrastive_only": ("contrastive_adapter", {"contrastive": True, "sampling": "random"}),
}
BACKBONES = {
    "RN50": "clip_rn50",
    "RN101": "clip_rn101",
    "ViT-B-32": "clip_vit_b32",
    "ViT-B-16": "clip_vit_b16",
    "ViT-L-14": "clip_vit_l14",
}
LARGER, SMALLER = (
    "clip_rn50",
    "clip_rn101",
)  # their substitutes are bundled models; the one for SMALLER has seen fewer scenes
SCENES = 150  # a bundled model that has seen fewer is the smaller one
FULL = "imagenet_rn50"  # trained as a whole
# parameters of torchvision's, with its 1,000 classes: over these Table 6 takes shares (a test counts them)
RESNET50 = 25_557_032
IMAGES = ("clip", "cloob", FULL)  # beginnings of the backbones for images
MODELS = ["artifact", "paper_dataset", "used_dataset", "substitute", "data", "backbone", "seed"]
OF_FIGURE_3 = [
    "zero_shot",
    "adapter",
]  # Sec. 4.1: zero-shot classification and adapters that ERM trains, on CLIP models
TRACKED = [*OF_FIGURE_3, "contrastive_adapter"]  # what is shown there


@cache
def identify(printed: str, method: str, data: str) -> tuple[str, str, float]:
    """The paper's names of a run's method and backbone, and its alpha (NaN without one)."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    printed = printed.removesuffix("_cloob")
    for name, (job, settings) in VARIANTS.items():
        if printed == job and all(point.settings.get(key) == value for key, value in settings.items()):
            printed = name
    if "stage1" not in point.components:
        return printed, FULL, np.nan
    base = point.components["stage1"]
    if base.base_name == "two_tower":
        return printed, LARGER if base.settings["scenes"] >= SCENES else SMALLER, point.settings.get("alpha", np.nan)
    encoder = base.components["encoder"].settings
    name = str(encoder.get("model", base.components["encoder"].base_name))
    cloob = encoder.get("checkpoint") == "cloob"
    backbone = f"cloob_{name.lower()}" if cloob else BACKBONES.get(name, name)
    return printed, backbone, point.settings.get("alpha", np.nan)


def named(table: pd.DataFrame) -> pd.DataFrame:
    """Rows under the paper's names, with columns ``backbone`` and ``alpha``; alpha 0 of WiSE-FT is the linear probe
    too."""
    known = [identify(*key) for key in zip(table["paper_method"], table["method"], table["data"], strict=True)]
    names = pd.DataFrame(known, columns=["paper_method", "backbone", "alpha"], index=table.index)
    table = table.assign(**names)
    return pd.concat(
        [
            table,
            table[(table["paper_method"] == "wise_ft") & (table["alpha"] == 0)].assign(paper_method="linear_probe"),
        ],
        ignore_index=True,
    )


def alphas(metrics: pd.DataFrame) -> pd.DataFrame:
    """Of WiSE-FT on each data and backbone: the alpha with the best worst-group accuracy on validation, mean of seeds;
    ties: smaller."""
    rows = metrics[
        (metrics["paper_method"] == "wise_ft") & (metrics["split"] == "val") & (metrics["selection"] == "best")
    ]
    keys = MODELS[:-1]
    means = rows[rows["metric"] == "worst_group_accuracy"].groupby([*keys, "alpha"])["value"].mean().reset_index()
    return means.sort_values("value", ascending=False, kind="stable").drop_duplicates(keys)[[*keys, "alpha"]]


def at_alphas(table: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """The table without WiSE-FT at other alphas than these."""
    ensembles = table["paper_method"] == "wise_ft"
    return pd.concat([table[~ensembles], table[ensembles].merge(chosen)], ignore_index=True)


def averages(table: pd.DataFrame) -> pd.DataFrame:
    """On Waterbirds, the average and the gap are weighted by the sizes of training groups (released code)."""
    table = table[table["metric"] != "gap"]
    return weighted_averages(table, table["paper_dataset"] == "waterbirds")


def tracked(table: pd.DataFrame) -> pd.DataFrame:
    """Of Figure 3: its methods on CLIP models, each run once, whichever artifacts show it."""
    shown = table[table["paper_method"].isin(TRACKED) & table["backbone"].str.startswith("clip")]
    return shown.drop_duplicates([*MODELS[1:], "paper_method", "split", "selection", "metric", "group"])


def with_gaps(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table, and the paper's gap: average minus worst group."""
    keys = [*MODELS, "paper_method", "method", "split", "selection"]
    overall = table[table["group"] == ""].set_index("metric")
    average, worst = (
        overall.loc[overall.index == name].set_index(keys) for name in ("average_accuracy", "worst_group_accuracy")
    )
    gaps = (average[columns] - worst[columns]).dropna(how="all").reset_index().assign(metric="gap", group="")
    return pd.concat([table, gaps], ignore_index=True)


def parameters(artifact_runs: Sequence[ArtifactRun]) -> dict[str, int]:
    """How many parameters each run has trained, by run (its data, specification and seed): counted."""
    files = sorted({Path(folder) / "about.json" for artifact_run in artifact_runs for folder in artifact_run.folders})
    return {
        key: run["trained_parameters"] for file in files for key, run in json.loads(file.read_text())["runs"].items()
    }


def once(metrics: pd.DataFrame) -> pd.DataFrame:
    """Without runs that several artifacts share."""
    return metrics.drop_duplicates(
        ["paper_dataset", "data", "paper_method", "method", "backbone", "seed", "split", "selection", "metric", "group"]
    )


def with_parameters(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """The metrics, and of each run the number of its trained parameters and, for images, their share of those of a
    whole network: of ResNet-50 on the paper's data, on others of the smallest network that was trained as a whole."""
    counted = parameters(artifact_runs)
    runs = metrics.drop_duplicates([*MODELS, "paper_method"]).assign(group="", split="test", selection="best")
    own = pd.Series(
        [counted.get(f"{row.data}/{row.method}/s{row.seed}", np.nan) for row in runs.itertuples()],
        runs.index,
        dtype=float,
    )
    substitute = runs["substitute"].astype(bool)
    whole = np.where(substitute, own[substitute & (runs["backbone"] == FULL)].min(), RESNET50)
    share = (own / whole).where(runs["backbone"].str.startswith(IMAGES))
    rows = [runs.assign(metric="trained_params", value=own), runs.assign(metric="trained_params_share", value=share)]
    return pd.concat([metrics, *rows], ignore_index=True).dropna(subset="value") if len(runs) else metrics


def with_zero_shot(table: pd.DataFrame) -> pd.DataFrame:
    """The table, and in Figure 5 zero-shot classification: that of Table 3, whose test data are the same."""
    subsets = table[table["artifact"] == "figure_5"]
    zero = table[(table["artifact"] == "table_3") & (table["paper_method"] == "zero_shot")]
    found = [table]
    for (paper_dataset, used_dataset), part in subsets.groupby(["paper_dataset", "used_dataset"], sort=False):
        same = zero[
            (zero["paper_dataset"] == paper_dataset)
            & zero["used_dataset"].map(lambda name, own=used_dataset: parse(name)[0] == parse(own)[0])
        ]
        same = same[same["backbone"].isin(part["backbone"])]
        found.append(same.assign(artifact="figure_5", used_dataset=used_dataset, substitute=part["substitute"].iloc[0]))
    return pd.concat(found, ignore_index=True)


def load(artifact_runs: Sequence[ArtifactRun], resampled: bool = True) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics, and their bootstrap values, under the paper's names."""
    metrics, resamples = load_metrics(artifact_runs), load_resamples(artifact_runs) if resampled else pd.DataFrame()
    if not len(metrics):
        return metrics, resamples
    metrics = named(metrics)
    chosen = alphas(metrics)
    metrics = with_zero_shot(with_gaps(averages(at_alphas(metrics, chosen)), ["value"]))
    metrics = with_parameters(metrics, artifact_runs)
    if len(resamples):
        columns = [c for c in resamples if c.isdigit()]
        resamples = with_zero_shot(with_gaps(averages(at_alphas(named(resamples), chosen)), columns))
    return metrics, resamples


def metrics_of(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics of the runs on all training samples, under the paper's names."""
    metrics = load(artifact_runs, resampled=False)[0]
    if not len(metrics):
        return metrics
    levels = pd.to_numeric(metrics.get("data.samples", pd.Series(0, metrics.index))).fillna(0)
    return once(metrics[levels == 0])
