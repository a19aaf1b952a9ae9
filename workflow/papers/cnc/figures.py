"""Figures of Correct-N-Contrast; those over p_corr and noise are in series.py, maps of representations in maps.py."""

from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from grad_cam import figure_1, per_group
from maps import figure_2, figure_10, figure_11
from series import SHOWN, figure_3, figure_4, figure_7, figure_7d

from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLORS, COLUMN, NAMES, data_name, named_rows, ordered, write_figure
from despur.reporting.tables import headline, load_metrics, main
from despur.storage.store import write_csv

FIGURE_5 = {
    "alignment_loss": SHOWN["alignment_loss"],
    "mutual_information_class": SHOWN["mutual_information_class"],
    "mutual_information_attribute": SHOWN["mutual_information_attribute"],
    "class_gap": "per-class gap, %",
}
BOUND = {  # Eq. 6 for a class: what is shown of it, with its marker, filled or not
    "class_gap_loss": ("worst-group minus average loss", "o", True),
    "class_bound_alignment": ("$B\\,C_1\\,\\hat{L}_{align}$ alone", "^", False),
    "class_bound": ("bound of Eq. 6", "_", True),
}


def figure_5(cells: list[Cell], output: Path) -> None:
    """(a) Alignment loss, mutual information with (b) class and (c) attribute, and (d) per-class gap; a row for each
    data set."""
    test = headline(load_metrics(cells))
    overall = test[(test["group"] == "") & test["metric"].isin(FIGURE_5)]
    values = pd.concat(
        [overall, _class_gaps(test, "average_accuracy", "worst_group_accuracy", "class_gap", over_classes=True)]
    )
    played = list(values.groupby(["role", "played"], sort=False))
    figure, axes = named_rows([data_name(*key) for key, _ in played], 4, 2 * COLUMN, 1.75)
    for row, (_, part) in zip(axes, played, strict=True):
        order = ordered(part["printed"])
        for axis, letter, (metric, label) in zip(row, "abcd", FIGURE_5.items(), strict=True):
            mine = part[part["metric"] == metric]
            mine = mine.assign(value=(100 if metric == "class_gap" else 1) * mine["value"])
            own = {"x": "printed", "y": "value", "order": order, "ax": axis}
            sns.barplot(
                mine, hue="printed", palette=COLORS, errorbar="sd", legend=False, err_kws={"linewidth": 1}, **own
            )
            sns.swarmplot(mine, color="0.2", size=2.5, **own)
            axis.set(xlabel="", ylabel=label)
            axis.set_title(f"({letter})", loc="left")
            axis.set_xticks(range(len(order)), [NAMES[m] for m in order])
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), values[["metric", "role", "played", "data", "printed", "seed", "value"]])


def _class_gaps(test: pd.DataFrame, high: str, low: str, name: str, over_classes: bool = False) -> pd.DataFrame:
    """By how much a metric of a class exceeds another: a row for each run and class, or for each run its mean over
    classes."""
    keys = ["role", "played", "data", "printed", "seed", "group"]
    first, second = (test[test["metric"] == f"class_{kind}"].set_index(keys)["value"] for kind in (high, low))
    gaps = first - second
    return (
        (gaps.groupby(keys[:-1], sort=False).mean() if over_classes else gaps)
        .rename("value")
        .reset_index()
        .assign(metric=name)
    )


def figure_theorem_3_1(cells: list[Cell], output: Path) -> None:
    """By class and method: worst-group minus average test loss, and its bound (Eq. 6) from training data; a row for
    each data set."""
    test = headline(load_metrics(cells))
    values = pd.concat(
        [_class_gaps(test, "worst_group_loss", "average_loss", "class_gap_loss"), test[test["metric"].isin(BOUND)]]
    )
    played = list(values.groupby(["role", "played"], sort=False))
    figure, axes = named_rows([data_name(*key) for key, _ in played], 1, 2 * COLUMN, 2.1)
    for (axis,), (_, part) in zip(axes, played, strict=True):
        methods, classes = ordered(part["printed"]), list(dict.fromkeys(part["group"]))
        for metric, (label, marker, filled) in BOUND.items():
            mine = part[part["metric"] == metric]
            x = mine["group"].map(classes.index) + (mine["printed"].map(methods.index) - (len(methods) - 1) / 2) * 0.22
            colors = [COLORS[m] for m in mine["printed"]]
            axis.scatter(x, mine["value"], s=16, marker=marker, **_face(colors, filled))
            axis.scatter([], [], s=16, marker=marker, label=label, **_face("0.3", filled))
        for method in methods:
            axis.scatter([], [], color=COLORS[method], marker="s", s=16, label=NAMES[method])
        axis.set_yscale("log")
        axis.set(xticks=range(len(classes)), xticklabels=classes, xlabel="class", ylabel="loss, nats")
        axis.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure)
    write_csv(
        output.with_suffix(".csv"), values[["metric", "role", "played", "data", "printed", "seed", "group", "value"]]
    )


def _face(color: Any, filled: bool) -> dict[str, Any]:
    return (
        {"color": color, "linewidths": 1.2}
        if filled
        else {"edgecolors": color, "facecolors": "none", "linewidths": 0.8}
    )


if __name__ == "__main__":
    main(
        {
            "figure_1": figure_1,
            "figure_2": figure_2,
            "figure_3": figure_3,
            "figure_4": figure_4,
            "figure_5": figure_5,
            "figure_6": figure_11,
            "figure_7": figure_7,
            "figure_7d": figure_7d,
            "figure_10": figure_10,
            "figure_11": figure_11,
            "figure_12": per_group,
            "figure_13": per_group,
            "figure_theorem_3_1": figure_theorem_3_1,
        }
    )
