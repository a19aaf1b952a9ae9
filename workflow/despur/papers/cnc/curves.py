"""Figures 3, 4 and 7: accuracy, alignment and mutual information over the strength of the spurious correlation (p_corr)
or over the noise of stage 1's labels."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from despur.evidence.runs.artifact_metrics import load_metrics, rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.figures import (
    COLORS,
    COLUMN,
    limit_percent,
    order_methods,
    split_by_dataset,
    start_rows,
    write_figure,
)
from despur.reporting.printed_names import NAMES

P_CORR, NOISE = "data.p_corr", "groups.noise"
WORST, AVERAGE, ALIGNMENT = "worst_group_accuracy", "average_accuracy", "alignment_loss"
CLASS, ATTRIBUTE, RATIO = "mutual_information_class", "mutual_information_attribute", "ratio"
LABELS = {
    WORST: "worst-group accuracy, %",
    AVERAGE: "average accuracy, %",
    ALIGNMENT: "alignment loss",
    CLASS: "Î(Y; Z), nats",
    ATTRIBUTE: "Î(A; Z), nats",
    RATIO: "Î(Y; Z) / Î(A; Z)",
}
RUN = ["paper_dataset", "used_dataset", "paper_method", "data", "seed", "selection"]


def load_levels(artifact_runs: list[ArtifactRun], setting: str) -> pd.DataFrame:
    """A row for each run and selection on the test set: the level of a setting, and a column for each of LABELS."""
    test = rows_where(load_metrics(artifact_runs), split="test", group="", metric=[*LABELS])
    table = test.pivot(index=[*RUN, setting], columns="metric", values="value").reset_index()
    table[setting] = table[setting].astype(float)
    return table.assign(ratio=table[CLASS] / table[ATTRIBUTE])


def plot_lines(axis: Any, table: pd.DataFrame, setting: str, metric: str, **style: Any) -> None:
    """A metric over the levels of a setting, evenly spaced, by method: each seed a dot, or the hollow ``marker`` of a
    further line; a line through the means, of a ratio the geometric ones."""
    levels = sorted(table[setting].unique())
    accuracy = metric in (WORST, AVERAGE)
    table = table.assign(x=table[setting].map(levels.index), **{metric: (100 if accuracy else 1) * table[metric]})
    for method in order_methods(table["paper_method"]):
        mine = table[table["paper_method"] == method]
        logarithmic = metric == RATIO
        mean = (np.log(mine[metric]) if logarithmic else mine[metric]).groupby(mine["x"]).mean()
        line = {"color": COLORS[method], "label": NAMES[method], "marker": "o"} | style
        axis.plot(mean.index, np.exp(mean) if logarithmic else mean, **line)
        face, width = (COLORS[method], 0) if line["marker"] == "o" else ("none", 0.5)
        dots = {"marker": line["marker"], "facecolors": face, "edgecolors": COLORS[method], "linewidths": width}
        axis.scatter(mine["x"], mine[metric], s=5, alpha=0.6, **dots)
    axis.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
    axis.set(xlabel="$p_{corr}$" if setting == P_CORR else "noise $p$ of stage-1 labels", ylabel=LABELS[metric])
    if accuracy:
        limit_percent(axis, 0)


def plot_diagonal(axis: Any, table: pd.DataFrame) -> None:
    """Equal axes for the two mutual informations, and the line where they are equal."""
    top = 1.08 * table[[CLASS, ATTRIBUTE]].max(axis=None)
    axis.plot([0, top], [0, top], color="0.6", linestyle=":", linewidth=1, zorder=0)
    axis.set(xlim=(0, top), ylim=(0, top), xlabel=LABELS[ATTRIBUTE], ylabel=LABELS[CLASS], box_aspect=1)


def set_titles(row: Any, *titles: str) -> None:
    """(a), (b), ... above the panels of a row."""
    for axis, letter, title in zip(row, "abcd", titles, strict=False):
        axis.set_title(f"({letter}) {title}", loc="left")


def draw_figure_3(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """ERM: (a) worst group and (b) alignment loss over p_corr; mutual informations (c) at each epoch and (d) over
    p_corr."""
    table = load_levels(artifact_runs, P_CORR)
    figure, rows = start_rows(split_by_dataset(table), 4, 2 * COLUMN, 2.1)
    for row, part in rows:
        best, epochs = (part[part["selection"].str.startswith(kind)] for kind in ("best", "epoch="))
        plot_lines(row[0], best, P_CORR, WORST)
        plot_lines(row[1], best, P_CORR, ALIGNMENT)
        for axis in row[:2]:
            axis.tick_params(axis="x", rotation=45)
        points = plot_epochs(row[2], epochs)
        figure.colorbar(points, ax=row[2], label="worst group, %", aspect=14, shrink=0.75)
        plot_path(row[3], best)
        set_titles(row, "worst group", "alignment", "each epoch", "selected")
    write_figure(output, figure, table)


def plot_epochs(axis: Any, table: pd.DataFrame) -> Any:
    """Figure 3c: the mutual informations of each model, colored by its worst-group accuracy; returns the points."""
    colors = {"c": 100 * table[WORST], "cmap": "viridis", "vmin": 0, "vmax": 100}
    points = axis.scatter(table[ATTRIBUTE], table[CLASS], s=10, linewidths=0, **colors)
    plot_diagonal(axis, table)
    return points


def plot_path(axis: Any, table: pd.DataFrame) -> None:
    """Figure 3d: mean mutual informations at each level of p_corr, joined by a line."""
    means = table.groupby(P_CORR)[[ATTRIBUTE, CLASS]].mean().reset_index()
    axis.plot(means[ATTRIBUTE], means[CLASS], color="0.7", zorder=0)
    levels = means[P_CORR].map("{:g}".format)
    sns.scatterplot(means, x=ATTRIBUTE, y=CLASS, hue=levels, palette="flare", s=28, ax=axis)
    plot_diagonal(axis, table)
    axis.legend(title="$p_{corr}$", loc="center left", bbox_to_anchor=(1, 0.5), handletextpad=0)


def draw_figure_4(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """JTT beside ERM: (a) worst group, and mutual informations of (b) ERM and (c) JTT, over p_corr."""
    table = load_levels(artifact_runs, P_CORR).query("selection == 'best'")
    figure, rows = start_rows(split_by_dataset(table), 3, 2 * COLUMN, 2.0)
    for row, part in rows:
        plot_lines(row[0], part, P_CORR, WORST)
        row[0].legend()
        methods = order_methods(part["paper_method"])
        top = 1.08 * part[[CLASS, ATTRIBUTE]].max(axis=None)
        for axis, method in zip(row[1:], methods, strict=True):
            mine = part[part["paper_method"] == method]
            plot_lines(axis, mine, P_CORR, CLASS, label="Î(Y; Z)")
            plot_lines(axis, mine, P_CORR, ATTRIBUTE, label="Î(A; Z)", linestyle="--", marker="s")
            axis.set(ylabel="mutual information, nats", ylim=(0, top))
            axis.legend()
        set_titles(row, "worst group", *(NAMES[method] for method in methods))
    write_figure(output, figure, table)


def draw_figure_7(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """(a) Worst group, (b) alignment loss and (c) ratio of mutual informations over p_corr, by method."""
    table = load_levels(artifact_runs, P_CORR).query("selection == 'best'")
    figure, rows = start_rows(split_by_dataset(table), 3, 2 * COLUMN, 2.0)
    for row, part in rows:
        for axis, metric in zip(row, (WORST, ALIGNMENT, RATIO), strict=True):
            plot_lines(axis, part, P_CORR, metric)
        row[2].set_yscale("log", base=2)
        row[2].yaxis.set_major_formatter("{x:g}")
        row[2].axhline(1, color="0.6", linestyle=":", linewidth=1, zorder=0)
        row[2].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        set_titles(row, "worst group", "alignment", "ratio of informations")
    write_figure(output, figure, table)


def draw_figure_7d(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst-group (solid) and average accuracy (dashed) over the noise of true labels, given in place of stage 1's."""
    table = load_levels(artifact_runs, NOISE).query("selection == 'best'")
    figure, rows = start_rows(split_by_dataset(table), 1, 1.4 * COLUMN, 2.2)
    for (axis,), part in rows:
        plot_lines(axis, part, NOISE, WORST, linestyle="-")
        plot_lines(axis, part, NOISE, AVERAGE, linestyle="--", marker="s")
        names = [NAMES[method] for method in order_methods(part["paper_method"])]
        labels = [f"{name}, worst group" for name in names] + [f"{name}, average" for name in names]
        axis.legend(axis.get_legend_handles_labels()[0], labels, loc="center left", bbox_to_anchor=(1, 0.5))
        axis.set_ylabel("accuracy, %")
    write_figure(output, figure, table)
