"""Figures 1, 4 and 5: accuracies over sigma, of every setting that was tried, and with a projector."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D

from despur.evidence.runs.artifact_metrics import rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.selection import (
    FAMILY,
    PRINTED,
    is_selected,
    keep_selected,
    load_runs,
    rename_as_printed,
    select_settings,
)
from despur.reporting.figures import (
    COLORS,
    COLUMN,
    label_rows,
    limit_percent,
    order_methods,
    split_by_dataset,
    start_rows,
    write_figure,
)
from despur.reporting.printed_names import NAMES

LABELS = {
    "test_ood_accuracy": "Test-OOD accuracy, %",
    "test_id_accuracy": "Test-ID accuracy, %",
    "domain_test_id_accuracy": "D-Test-ID accuracy, %",
    "validation_accuracy": "validation accuracy, %",
}
PROJECTORS = ["none", "linear", "mlp"]
SELECTED_COLOR, OTHER_COLOR = "red", "0.6"


def load_accuracies(runs: pd.DataFrame, fraction: float) -> pd.DataFrame:
    """The paper's accuracies at a share of labels, percent: a row for each run and accuracy (domain accuracy has no
    share)."""
    table = rename_as_printed(runs)
    at_fraction = (table["label_fraction"] == fraction) | (table["metric"] == "domain_test_id_accuracy")
    rows = table[table["metric"].isin(PRINTED) & at_fraction]
    return rows.assign(accuracy=100 * rows["value"])


def average_seeds(table: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Mean accuracy over seeds, for each accuracy and setting within a family."""
    groups = table.groupby([*FAMILY, *keys, "metric"], sort=False, dropna=False)
    return groups["accuracy"].mean().reset_index()


def draw_figure_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Test-OOD, Test-ID and domain accuracy over sigma, settings selected at each sigma; 1 % of the labels."""
    runs = load_runs(artifact_runs)
    table = load_accuracies(keep_selected(runs, select_settings(runs)), 0.01)
    figure, rows = start_rows(split_by_dataset(table), 3, 2 * COLUMN, 2.2)
    for row, part in rows:
        for axis, metric in zip(row, ("test_ood_accuracy", "test_id_accuracy", "domain_test_id_accuracy"), strict=True):
            plot_over_sigma(axis, rows_where(part, metric=metric), order_methods(part["paper_method"]))
            axis.set_ylabel(LABELS[metric])
        row[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, table[[*FAMILY, "method", "seed", "metric", "accuracy"]])


def plot_over_sigma(axis: Any, table: pd.DataFrame, methods: Sequence[str]) -> None:
    """An accuracy over sigma: each seed a dot, a line through the means, by method; dotted: chance."""
    for number, method in enumerate(methods):
        mine = rows_where(table, paper_method=method)
        beside = 1.5 * (number - (len(methods) - 1) / 2)  # so that dots of several methods are seen
        mean = mine.groupby("sigma")["accuracy"].mean()
        axis.plot(mean.index, mean, marker="o", color=COLORS[method], label=NAMES[method])
        axis.scatter(mine["sigma"] + beside, mine["accuracy"], color=COLORS[method], s=5, alpha=0.6, linewidths=0)
    axis.axhline(50, color="0.6", linestyle=":", linewidth=1, zorder=0)
    axis.set(xlabel=r"$\sigma$", xticks=sorted(table["sigma"].unique()))
    limit_percent(axis)


def draw_figure_4(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Every setting of every method as a point (mean over seeds), the selected in red; sigma = 50, 1 % of the
    labels."""
    runs = rows_where(load_runs(artifact_runs), sigma=50.0)
    table = average_seeds(load_accuracies(runs, 0.01), ["method"])
    table = table.assign(selected=is_selected(table, select_settings(runs)))
    figure, rows = start_rows(split_by_dataset(table), 2, 2 * COLUMN, 2.6, sharey=True)
    for row, part in rows:
        for axis, metric in zip(row, ("test_ood_accuracy", "test_id_accuracy"), strict=True):
            plot_settings(axis, rows_where(part, metric=metric), order_methods(part["paper_method"]))
            axis.set_xlabel(LABELS[metric])
        row[-1].legend(handles=explain_marks(), loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, table)


def explain_marks() -> list[Line2D]:
    """What the marks of Figure 4 are."""
    marks: dict[str, dict[str, Any]] = {
        "a setting": {"marker": "o", "markersize": 3, "color": OTHER_COLOR},
        "selected": {"marker": "o", "markersize": 4, "color": SELECTED_COLOR},
        "mean of settings": {"marker": "|", "markersize": 9, "color": "black"},
    }
    return [Line2D([], [], linestyle="none", label=label, **mark) for label, mark in marks.items()]


def plot_settings(axis: Any, table: pd.DataFrame, methods: list[str]) -> None:
    """A line for each method: its settings as points, the selected in red, their mean as a bar."""
    for selected, color, size in ((False, OTHER_COLOR, 3.0), (True, SELECTED_COLOR, 4.0)):
        points = table[table["selected"] == selected]
        place = {"x": "accuracy", "y": "paper_method", "order": methods, "ax": axis}
        sns.swarmplot(points, color=color, size=size, warn_thresh=1, **place)
    means = table.groupby("paper_method")["accuracy"].mean().reindex(methods)
    axis.scatter(means, range(len(methods)), marker="|", s=200, color="black", linewidths=1, zorder=3)
    axis.set(ylabel="", yticks=range(len(methods)), yticklabels=[NAMES[method] for method in methods])


def draw_figure_5(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Standard CL with and without a projector: a point for each temperature (mean over seeds); sigma = 25, 10 % of
    the labels."""
    runs = rows_where(load_runs(artifact_runs), sigma=25.0, paper_method="standard_cl")
    keys = ["temperature", "weight", "tau_alpha", "tau_beta", "projector_dim"]
    table = average_seeds(load_accuracies(runs, 0.1), keys)
    projectors = list(zip(table["projector"], table["projector_dim"], strict=True))
    table["head"] = [name_projector(*projector) for projector in projectors]
    order = list(dict.fromkeys(name_projector(*projector) for projector in sorted(projectors, key=projector_rank)))
    parts = split_by_dataset(table)
    figure, axes = label_rows([name for name, _ in parts] or [""], 3, 2 * COLUMN, 2.2)
    metrics = ("test_id_accuracy", "test_ood_accuracy", "domain_test_id_accuracy")
    for row, (_, part) in zip(axes, parts, strict=False):
        for axis, letter, metric in zip(row, "abc", metrics, strict=True):
            plot_projectors(axis, rows_where(part, metric=metric), order)
            axis.set_ylabel(LABELS[metric])
            axis.set_title(f"({letter})", loc="left")
    write_figure(output, figure, table)


def name_projector(kind: str, dim: float) -> str:
    return kind if kind == "none" else f"{kind}, {dim:g}"


def projector_rank(projector: tuple[str, float]) -> tuple[int, float]:
    """By kind, then by dimension; without a projector there is none."""
    kind, dim = projector
    return PROJECTORS.index(kind), 0.0 if kind == "none" else dim


def plot_projectors(axis: Any, table: pd.DataFrame, order: list[str]) -> None:
    """An accuracy by projector: each temperature a point, a bar at their mean."""
    place = {"x": "head", "y": "accuracy", "order": order, "ax": axis}
    bar = {"color": "black", "errorbar": None, "linestyle": "none", "marker": "_", "markersize": 8}
    sns.stripplot(table, color="0.4", size=4, jitter=False, **place)  # jitter is random
    sns.pointplot(table, **place, **bar)
    axis.set(xlabel="projector (kind, dimensions)")
    axis.set_xticks(range(len(order)), order, rotation=60, ha="right", rotation_mode="anchor")
