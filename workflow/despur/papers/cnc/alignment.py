"""Figure 5 and Theorem 3.1: alignment, mutual information and the gap between a class and its worst group."""

from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics, rows_where, select_test
from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc.curves import LABELS
from despur.reporting.figures import (
    COLORS,
    COLUMN,
    order_methods,
    plot_bars,
    split_by_dataset,
    start_rows,
    write_figure,
)
from despur.reporting.printed_names import NAMES

FIGURE_5 = {
    "alignment_loss": LABELS["alignment_loss"],
    "mutual_information_class": LABELS["mutual_information_class"],
    "mutual_information_attribute": LABELS["mutual_information_attribute"],
    "class_gap": "per-class gap, %",
}
BOUND = {  # Eq. 6 for a class: metric, its label, its marker, and whether that is filled
    "class_gap_loss": ("worst-group minus average loss", "o", True),
    "class_bound_alignment": ("$B\\,C_1\\,\\hat{L}_{align}$ alone", "^", False),
    "class_bound": ("bound of Eq. 6", "_", True),
}
RUN = ["paper_dataset", "used_dataset", "data", "paper_method", "seed"]


def class_gaps(test: pd.DataFrame, high: str, low: str) -> pd.Series:
    """By how much one metric of a class exceeds another, indexed by run and class."""
    values = test.set_index(["metric", *RUN, "group"])["value"]
    return values.loc[f"class_{high}"] - values.loc[f"class_{low}"]


def draw_figure_5(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """(a) Alignment loss, mutual information with (b) class and (c) attribute, and (d) per-class gap (mean over
    classes); a row for each data set."""
    test = select_test(load_metrics(artifact_runs))
    overall = rows_where(test, group="", metric=[*FIGURE_5])
    gaps = class_gaps(test, "average_accuracy", "worst_group_accuracy").groupby(RUN, sort=False).mean()
    values = pd.concat([overall, gaps.rename("value").reset_index().assign(metric="class_gap")])
    figure, rows = start_rows(split_by_dataset(values), 4, 2 * COLUMN, 1.75)
    for row, part in rows:
        for axis, letter, metric in zip(row, "abcd", FIGURE_5, strict=True):
            plot_metric(axis, rows_where(part, metric=metric), metric, order_methods(part["paper_method"]))
            axis.set_title(f"({letter})", loc="left")
    write_figure(output, figure, values[["metric", *RUN, "value"]])


def plot_metric(axis: Any, table: pd.DataFrame, metric: str, methods: list[str]) -> None:
    """A metric by method."""
    plot_bars(axis, table.assign(value=(100 if metric == "class_gap" else 1) * table["value"]), methods)
    axis.set(xlabel="", ylabel=FIGURE_5[metric])
    axis.set_xticks(range(len(methods)), [NAMES[method] for method in methods])


def draw_figure_theorem_3_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """By class and method: worst-group minus average test loss, and its bound (Eq. 6) from training data; a row for
    each data set."""
    test = select_test(load_metrics(artifact_runs))
    gaps = class_gaps(test, "worst_group_loss", "average_loss")
    gaps = gaps.rename("value").reset_index().assign(metric="class_gap_loss")
    values = pd.concat([gaps, test[test["metric"].isin(BOUND)]])
    figure, rows = start_rows(split_by_dataset(values), 1, 2 * COLUMN, 2.1)
    for (axis,), part in rows:
        plot_bound(axis, part)
    write_figure(output, figure, values[["metric", *RUN, "group", "value"]])


def plot_bound(axis: Any, table: pd.DataFrame) -> None:
    """Gap and bound of each class (x) by method (side by side, colored), on a logarithmic scale."""
    methods, classes = order_methods(table["paper_method"]), list(dict.fromkeys(table["group"]))
    for number, (metric, (label, marker, filled)) in enumerate(BOUND.items()):
        mine = rows_where(table, metric=metric)
        shift = mine["paper_method"].map(methods.index) - (len(methods) - 1) / 2
        x = mine["group"].map(classes.index) + 0.22 * shift + 0.05 * (number - 1)
        colors = [COLORS[method] for method in mine["paper_method"]]
        axis.scatter(x, mine["value"], s=16, marker=marker, **marker_style(colors, filled))
        axis.scatter([], [], s=16, marker=marker, label=label, **marker_style("0.3", filled))
    for method in methods:
        axis.plot([], [], color=COLORS[method], linewidth=3, label=NAMES[method])
    axis.set_yscale("log")
    axis.set(xticks=range(len(classes)), xticklabels=classes, xlabel="class", ylabel="loss, nats")
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def marker_style(color: Any, filled: bool) -> dict[str, Any]:
    if filled:
        return {"color": color, "linewidths": 1.2}
    return {"edgecolors": color, "facecolors": "none", "linewidths": 0.8}
