"""Figures of Qiang et al. 2022."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
import seaborn as sns

from despur.evidence.runs.artifact_metrics import rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr.rows import REST, load_accuracies
from despur.reporting import figures
from despur.reporting.figures import COLORS, COLUMN, order_methods, start_rows, write_figure
from despur.reporting.printed_names import NAMES
from despur.reporting.tables import main

PARTS = {  # Fig. 1: the images of training and of test
    ("full", "test"): "1\nfull\nfull",
    ("full", "test_foreground"): "2\nfull\nforeground",
    ("foreground", "test_foreground"): "3\nforeground\nforeground",
    ("foreground", "test"): "4\nforeground\nfull",
}
LABELS = {
    "weight": r"$\lambda$, weight of $L_{msr}$",
    "uniformity": r"$\gamma$, weight of $L_{uni}$",
    "vectors": r"$n$, weight vectors",
}
METRICS = {"linear_top1": "linear classifier, %", "knn5_top1": "5-nn, %"}
KEPT = ["paper_dataset", "used_dataset", "data", "paper_method", "train", "split", "seed", "metric", "accuracy"]


def split_by_dataset(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each data set, with its name in lines that fit."""
    folded = partial(fill, width=75, break_on_hyphens=False)
    return [
        (folded(name.replace("+", " +")).replace(" +", "+"), part) for name, part in figures.split_by_dataset(table)
    ]


def draw_settings(artifact_runs: list[ArtifactRun], output: Path, methods: Sequence[str], parts: Sequence[str]) -> None:
    """Bars: accuracy of each method by what it was trained and tested on; dots are seeds."""
    table = rows_where(load_accuracies(artifact_runs), paper_method=[*methods], metric=[*METRICS])
    table = table.assign(part=[PARTS[pair] for pair in zip(table["train"], table["split"], strict=True)])
    table = table[table["part"].isin(parts)]
    figure, rows = start_rows(split_by_dataset(table), 2, 2 * COLUMN, 2.6)
    for row, part in rows:
        for axis, (metric, label) in zip(row, METRICS.items(), strict=True):
            draw_bars(axis, rows_where(part, metric=metric), label, parts)
        row[0].get_legend().remove()
        sns.move_legend(row[1], "center left", bbox_to_anchor=(1, 0.5), title=None)
    write_figure(output, figure, table[KEPT])


def draw_bars(axis: Any, table: pd.DataFrame, label: str, parts: Sequence[str]) -> None:
    """Mean and, as dots, seeds."""
    methods = order_methods(table["paper_method"])
    at = {"x": "part", "y": "accuracy", "hue": "paper_method", "order": list(parts), "hue_order": methods, "ax": axis}
    sns.barplot(table, palette=COLORS, errorbar=None, **at)
    sns.stripplot(table, palette=dict.fromkeys(methods, "0.2"), dodge=True, jitter=False, size=2.5, legend=False, **at)
    axis.set(xlabel="setting; trained on; tested on", ylabel=label)
    for text, method in zip(axis.get_legend().get_texts(), methods, strict=True):
        text.set_text(NAMES[method])


def draw_figure_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """SimCLR and BYOL, trained and tested on full images or on foregrounds."""
    draw_settings(artifact_runs, output, ["simclr", "byol"], list(PARTS.values()))


def draw_figure_4(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Trained on full images: with MSR, and (from Figure 1) without."""
    draw_settings(artifact_runs, output, ["simclr", "simclr_msr", "byol", "byol_msr"], list(PARTS.values())[:2])


def draw_figure_5(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Accuracy of SimCLR + MSR over lambda, gamma and n, the others at 1, 1 and 6; lines are means, dots seeds."""
    table = rows_where(load_accuracies(artifact_runs), metric="linear_top1", split="test")
    figure, rows = start_rows(split_by_dataset(table), 3, 2 * COLUMN, 2.3, sharey=True)
    for row, part in rows:
        for axis, letter, (key, label) in zip(row, "abc", LABELS.items(), strict=True):
            mine = part
            for other, value in REST.items():
                mine = mine[(mine[other] == value) | (other == key)]
            mean = mine.groupby(key)["accuracy"].mean()
            axis.plot(mean.index, mean, marker="o", color=COLORS["simclr_msr"])
            axis.scatter(mine[key], mine["accuracy"], color=COLORS["simclr_msr"], s=6, alpha=0.6, linewidths=0)
            axis.axvline(REST[key], color="0.6", linestyle=":", linewidth=1, zorder=0)
            axis.set(xlabel=label, ylabel=METRICS["linear_top1"] if key == "weight" else "")
            axis.set_xscale("linear" if key == "vectors" else "log")
            axis.set_title(f"({letter})", loc="left")
    write_figure(output, figure, table[[*KEPT, *LABELS]])


if __name__ == "__main__":
    main({"figure_1": draw_figure_1, "figure_4": draw_figure_4, "figure_5": draw_figure_5})
