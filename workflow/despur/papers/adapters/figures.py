"""Figures of Contrastive Adapters (Zhang & Re 2022)."""

from pathlib import Path

import pandas as pd

from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters import method_names
from despur.papers.adapters.merged_tables import load_runs, select_tracked
from despur.reporting.figures import (
    COLORS,
    COLUMN,
    create_panels,
    label_rows,
    limit_percent,
    name_data,
    order_methods,
    split_by_dataset,
    start_rows,
    write_figure,
)
from despur.reporting.printed_names import NAMES
from despur.reporting.tables import main

WORST = "worst_group_accuracy"
TRACKED = {"cosine_similarity": "cosine similarity of groups", "alignment_loss": "alignment loss of groups"}
MARKERS = "osD^vP*X<>h"  # foundation models
SHOWN = ["metric", "paper_dataset", "used_dataset", "data", "backbone", "paper_method", "seed", "value"]


def overall(artifact_runs: list[ArtifactRun], *metrics: str) -> pd.DataFrame:
    """Test rows of these metrics, under the paper's names."""
    return select_test(load_runs(artifact_runs, resampled=False)[0], group="", metric=[*metrics])


def draw_figure_3(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst-group error against similarity and alignment of groups of a class: each method on each model; a row for
    each data set. Hollow: the contrastive adapter, which the paper's figure does not have."""
    values = select_tracked(overall(artifact_runs, WORST, *TRACKED))
    keys = ["paper_dataset", "used_dataset", "backbone", "paper_method", "seed"]
    wide = values.pivot(index=keys, columns="metric", values="value").reset_index()
    models = sorted(wide["backbone"].unique())
    figure, rows = start_rows(split_by_dataset(wide), 2, 2 * COLUMN, 2.3)
    for row, part in rows:
        for axis, (metric, label) in zip(row, TRACKED.items(), strict=True):
            for (method, model), runs in part.groupby(["paper_method", "backbone"]):
                marker = MARKERS[models.index(model)]
                error = 100 * (1 - runs[WORST])
                axis.scatter(runs[metric], error, s=9, alpha=0.45, linewidths=0, color=COLORS[method], marker=marker)
                of_mean = {"s": 42, "linewidths": 0.8, **colors_of(method)}
                axis.scatter(runs[metric].mean(), error.mean(), marker=marker, **of_mean)
            axis.set(xlabel=label, ylabel="worst-group error, %")
    legend = rows[0][0][-1]
    for method in order_methods(wide["paper_method"]):
        added = "" if method in method_names.OF_FIGURE_3 else " (not in the paper's figure)"
        legend.scatter([], [], s=30, linewidths=0.8, label=NAMES[method] + added, **colors_of(method))
    for model in models:
        legend.scatter([], [], color="0.4", marker=MARKERS[models.index(model)], s=30, label=f"part of {model}")
    legend.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, values[SHOWN].assign(in_paper=values["paper_method"].isin(method_names.OF_FIGURE_3)))


def colors_of(method: str) -> dict[str, str]:
    """Of a marker of Figure 3: full for the paper's methods, hollow for others."""
    color = COLORS[method]
    is_in_paper = method in method_names.OF_FIGURE_3
    return {"facecolors": color, "edgecolors": "white"} if is_in_paper else {"facecolors": "none", "edgecolors": color}


def draw_figure_4(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Gain of worst-group accuracy over zero-shot classification, of the ERM adapter and the contrastive adapter, on
    each benchmark."""
    values = overall(artifact_runs, WORST)
    others = {*method_names.BACKBONES.values()} - {method_names.LARGER}
    values = values[~values["backbone"].isin(others)]
    keys = ["paper_dataset", "used_dataset", "data", "backbone", "seed"]
    zero = rows_where(values, paper_method="zero_shot").set_index(keys)["value"]
    gains = rows_where(values, paper_method=["adapter", "contrastive_adapter"])
    gain = 100 * (gains["value"].to_numpy() - zero.reindex(pd.MultiIndex.from_frame(gains[keys])).to_numpy())
    gains = gains.assign(value=gain, metric="worst_group_accuracy_gain").dropna(subset="value")
    benchmarks = list(dict.fromkeys(zip(gains["paper_dataset"], gains["used_dataset"], strict=True)))
    figure, (axis,) = create_panels(1, COLUMN * 1.5, 0.6 + 0.55 * max(len(benchmarks), 2))
    for shift, method in ((-0.2, "adapter"), (0.2, "contrastive_adapter")):
        for row, (paper_dataset, used_dataset) in enumerate(benchmarks):
            of_bar = {"paper_dataset": paper_dataset, "used_dataset": used_dataset, "paper_method": method}
            part = rows_where(gains, **of_bar)["value"]
            axis.barh(row + shift, part.mean(), 0.36, color=COLORS[method], label=NAMES[method] if row == 0 else None)
            axis.scatter(part, [row + shift] * len(part), color="0.2", s=5, zorder=3)
    names = [name_data(*pair).replace(", substitute", ",\nsubstitute") for pair in benchmarks]
    axis.set_yticks(range(len(benchmarks)), names)
    axis.axvline(0, color="0.3", linewidth=0.8)
    axis.invert_yaxis()
    axis.set(xlabel="worst-group accuracy over zero-shot, points")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, gains[SHOWN])


def draw_figure_5(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst-group accuracy over the number of training samples; zero-shot classification, which needs none, dashed."""
    values = overall(artifact_runs, WORST).reset_index(drop=True)
    subsets = rows_where(values, artifact="figure_5")
    models = [*rows_where(subsets, paper_method="contrastive_adapter")["backbone"], method_names.FULL]
    shown = rows_where(values, paper_method=["contrastive_adapter", "ssa", "zero_shot"], backbone=models)
    levels = pd.to_numeric(shown["data.samples"]) if "data.samples" in shown else pd.Series(float("nan"), shown.index)
    shown = shown.assign(samples=levels.fillna(0).astype(int))
    shown = shown.drop_duplicates(["paper_dataset", "paper_method", "backbone", "seed", "samples"])
    paper_datasets = list(dict.fromkeys(zip(subsets["paper_dataset"], subsets["used_dataset"], strict=True)))
    figure, axes = label_rows([name_data(*pair) for pair in paper_datasets], 1, 1.5 * COLUMN, 2.4)
    for (axis,), (paper_dataset, _) in zip(axes, paper_datasets, strict=True):
        part = rows_where(shown, paper_dataset=paper_dataset)
        numbers = [*sorted(set(part["samples"]) - {0}), 0]
        for method in ("contrastive_adapter", "ssa"):
            points = rows_where(part, paper_method=method)
            points = points.assign(x=points["samples"].map(numbers.index))
            mean = points.groupby("x")["value"].mean()
            shown_models = ", ".join(model for model in points["backbone"].unique() if model != method_names.FULL)
            label = f"{NAMES[method]}, {shown_models}" if shown_models else NAMES[method]
            axis.plot(mean.index, 100 * mean, color=COLORS[method], marker="o", label=label)
            axis.scatter(points["x"], 100 * points["value"], color=COLORS[method], s=6, alpha=0.6, linewidths=0)
        zero = rows_where(part, paper_method="zero_shot").drop_duplicates(["seed"])["value"]
        axis.axhline(100 * zero.mean(), color=COLORS["zero_shot"], linestyle="--", label=NAMES["zero_shot"])
        axis.set_xticks(range(len(numbers)), [str(n) if n else "all" for n in numbers])
        axis.set(xlabel="training samples, ratios of groups preserved", ylabel="worst-group accuracy, %")
        limit_percent(axis, 0)
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, shown[[*SHOWN, "samples"]])


if __name__ == "__main__":
    bars = {"figure_4": draw_figure_4, "figure_4_text": draw_figure_4}
    main({"figure_3": draw_figure_3, **bars, "figure_5": draw_figure_5})
