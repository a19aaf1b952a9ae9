"""Figures 3, 4 and 7 of Correct-N-Contrast: accuracy, alignment and mutual information over the strength of the
spurious correlation."""

from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns

from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLORS, COLUMN, NAMES, data_name, named_rows, ordered, write_figure
from despur.reporting.tables import load_metrics
from despur.storage.store import write_csv

LEVEL, NOISE = "data.p_corr", "groups.noise"
WORST, AVERAGE, ALIGNMENT = "worst_group_accuracy", "average_accuracy", "alignment_loss"
CLASS, ATTRIBUTE = "mutual_information_class", "mutual_information_attribute"
SHOWN = {
    WORST: "worst-group accuracy, %", AVERAGE: "average accuracy, %", ALIGNMENT: "alignment loss",
    CLASS: "Î(Y; Z), nats", ATTRIBUTE: "Î(A; Z), nats", "ratio": "Î(Y; Z) / Î(A; Z)",
}  # fmt: skip
RUN = ["role", "played", "printed", "data", "seed", "selection"]


def wide(cells: list[Cell], setting: str) -> pd.DataFrame:
    """A row for each run and selection on the test set: its level of a setting, and the metrics of SHOWN."""
    metrics = load_metrics(cells)
    test = metrics[(metrics["split"] == "test") & (metrics["group"] == "") & metrics["metric"].isin(SHOWN)]
    table = test.pivot(index=[*RUN, setting], columns="metric", values="value").reset_index()
    table[setting] = table[setting].astype(float)
    return table.assign(ratio=table[CLASS] / table[ATTRIBUTE])


def parts(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each data set that plays a part, with its name."""
    return [(data_name(*key), part) for key, part in table.groupby(["role", "played"], sort=False)]


def lines(axis: Any, table: pd.DataFrame, setting: str, metric: str, **style: Any) -> None:
    """A metric over the levels of a setting, evenly spaced: each seed a dot, a line through the means, by method."""
    levels = sorted(table[setting].unique())
    accuracy = metric in (WORST, AVERAGE)
    result = table.assign(x=table[setting].map(levels.index), **{metric: (100 if accuracy else 1) * table[metric]})
    for method in ordered(table["printed"]):
        mine = result[result["printed"] == method]
        mean = mine.groupby("x")[metric].mean()
        axis.plot(mean.index, mean, **{"color": COLORS[method], "label": NAMES[method], "marker": "o", **style})
        axis.scatter(mine["x"], mine[metric], color=COLORS[method], s=5, alpha=0.6, linewidths=0)
    axis.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
    axis.set(xlabel="$p_{corr}$" if setting == LEVEL else "noise $p$ of stage-1 labels", ylabel=SHOWN[metric])
    if accuracy:
        axis.set_ylim(-4, 104)


def diagonal(axis: Any, table: pd.DataFrame) -> None:
    """Equal axes for the two mutual informations, and the line where they are equal."""
    top = 1.08 * table[[CLASS, ATTRIBUTE]].max(axis=None)
    axis.plot([0, top], [0, top], color="0.6", linestyle=":", linewidth=1, zorder=0)
    axis.set(xlim=(0, top), ylim=(0, top), xlabel=SHOWN[ATTRIBUTE], ylabel=SHOWN[CLASS], box_aspect=1)


def figure_3(cells: list[Cell], output: Path) -> None:
    """ERM: (a) worst group and (b) alignment loss over p_corr; mutual informations (c) at each epoch and (d) over
    p_corr."""
    table = wide(cells, LEVEL)
    figure, axes = named_rows([name for name, _ in parts(table)], 4, 2 * COLUMN, 2.1)
    for row, (_, part) in zip(axes, parts(table), strict=True):
        best, epochs = (part[part["selection"].str.startswith(kind)] for kind in ("best", "epoch="))
        for axis, metric in zip(row, (WORST, ALIGNMENT), strict=False):
            lines(axis, best, LEVEL, metric)
        drawn = row[2].scatter(
            epochs[ATTRIBUTE],
            epochs[CLASS],
            c=100 * epochs[WORST],
            cmap="viridis",
            vmin=0,
            vmax=100,
            s=10,
            linewidths=0,
        )
        figure.colorbar(drawn, ax=row[2], label=SHOWN[WORST], aspect=14, shrink=0.75)
        diagonal(row[2], epochs)
        means = best.groupby(LEVEL)[[ATTRIBUTE, CLASS]].mean().reset_index()
        row[3].plot(means[ATTRIBUTE], means[CLASS], color="0.7", zorder=0)
        sns.scatterplot(
            means, x=ATTRIBUTE, y=CLASS, hue=means[LEVEL].map("{:g}".format), palette="flare", s=28, ax=row[3]
        )
        diagonal(row[3], best)
        row[3].legend(title="$p_{corr}$", loc="center left", bbox_to_anchor=(1, 0.5), handletextpad=0)
        titles(row, "worst group", "alignment", "epochs", "over $p_{corr}$")
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def figure_4(cells: list[Cell], output: Path) -> None:
    """JTT beside ERM: (a) worst group, and mutual informations of (b) ERM and (c) JTT, over p_corr."""
    table = wide(cells, LEVEL).query("selection == 'best'")
    figure, axes = named_rows([name for name, _ in parts(table)], 3, 2 * COLUMN, 2.0)
    for row, (_, part) in zip(axes, parts(table), strict=True):
        lines(row[0], part, LEVEL, WORST)
        row[0].legend()
        top = 1.08 * part[[CLASS, ATTRIBUTE]].max(axis=None)
        for axis, method in zip(row[1:], ordered(part["printed"]), strict=True):
            for metric, style in ((CLASS, {"linestyle": "-"}), (ATTRIBUTE, {"linestyle": "--", "marker": "s"})):
                lines(
                    axis,
                    part[part["printed"] == method],
                    LEVEL,
                    metric,
                    label=SHOWN[metric].removesuffix(", nats"),
                    **style,
                )
            axis.set(ylabel="mutual information, nats", ylim=(0, top))
            axis.legend()
        titles(row, "worst group", *(NAMES[method] for method in ordered(part["printed"])))
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def figure_7(cells: list[Cell], output: Path) -> None:
    """(a) Worst group, (b) alignment loss and (c) ratio of mutual informations over p_corr, by method."""
    table = wide(cells, LEVEL).query("selection == 'best'")
    figure, axes = named_rows([name for name, _ in parts(table)], 3, 2 * COLUMN, 2.0)
    for row, (_, part) in zip(axes, parts(table), strict=True):
        for axis, metric in zip(row, (WORST, ALIGNMENT, "ratio"), strict=True):
            lines(axis, part, LEVEL, metric)
        row[2].set_yscale("log", base=2)
        row[2].yaxis.set_major_formatter("{x:g}")
        row[2].axhline(1, color="0.6", linestyle=":", linewidth=1, zorder=0)
        row[2].legend(loc="center left", bbox_to_anchor=(1, 0.5))
        titles(row, "worst group", "alignment", "mutual information")
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def figure_7d(cells: list[Cell], output: Path) -> None:
    """Worst-group (solid) and average accuracy (dashed) over the noise of the labels that take the part of stage 1."""
    table = wide(cells, NOISE).query("selection == 'best'")
    figure, axes = named_rows([name for name, _ in parts(table)], 1, 1.4 * COLUMN, 2.2)
    for (axis,), (_, part) in zip(axes, parts(table), strict=True):
        for metric, style in ((WORST, "-"), (AVERAGE, "--")):
            lines(axis, part, NOISE, metric, linestyle=style)
        drawn, names = axis.get_legend_handles_labels()
        half = len(drawn) // 2
        kinds = [
            f"{name}, {kind}"
            for kind, some in (("worst group", names[:half]), ("average", names[half:]))
            for name in some
        ]
        axis.legend(drawn, kinds, loc="center left", bbox_to_anchor=(1, 0.5))
        axis.set_ylabel("accuracy, %")
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def titles(row: Any, *words: str) -> None:
    """(a), (b), ... above the panels of a row."""
    for axis, letter, text in zip(row, "abcd", words, strict=False):
        axis.set_title(f"({letter}) {text}", loc="left")
