"""Figures of Contrastive Learning for Fair Representations."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import to_rgb

from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.metrics.selection import on_pareto_front
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.tsne import draw_figure_4
from despur.reporting.figures import (
    COLORS,
    COLUMN,
    create_panels,
    limit_percent,
    order_methods,
    plot_bars,
    split_by_dataset,
    start_rows,
    write_figure,
)
from despur.reporting.printed_names import NAMES
from despur.reporting.tables import main
from despur.specs.names import parse
from despur.specs.resolution import resolve
from despur.storage.store import Array

ACCURACY, GAP, LEAKAGE, LOGITS = selected_settings.MEASURED_METRICS
LABELS = {ACCURACY: "accuracy, %", GAP: "GAP, %", LEAKAGE: "Leakage@h, %", LOGITS: "Leakage@ŷ, %"}
STRENGTH = {"inlp": "iterations", "adv": "weight", "adv_single": "weight", "con": "ratio"}  # what Figure 2 varies
PARTS = ["ce", "con_ce_scl", "con_ce_fcl", "con"]
MARKS: list[dict[str, Any]] = [{"marker": "o"}, {"marker": "*", "markersize": 8, "zorder": 4}]  # of others, of CE
LABEL_PLACES = {  # Figure 2: where strengths stand, so that those of two methods do not meet: shift, alignment
    "con": (-4, -4, "center", "top"),
    "inlp": (0, -4, "center", "top"),
    "adv": (5, 0, "left", "center"),
    "adv_single": (4, 3, "left", "bottom"),
}


def list_points(artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each setting: means over seeds of test accuracy and leakage, and whether it is on its method's Pareto
    front."""
    metrics = selected_settings.load_settings(artifact_runs)
    test = select_test(metrics, group="", metric=[ACCURACY, LEAKAGE], paper_method=["ce", *STRENGTH])
    keys = ["paper_dataset", "used_dataset", "data", "paper_method", "method"]
    table = (100 * test.groupby([*keys, "metric"], sort=False)["value"].mean()).unstack("metric").reset_index()
    by_method = table.groupby(keys[:-1], sort=False)
    fronts = [
        pd.Series(on_pareto_front(points[ACCURACY].to_numpy(), points[LEAKAGE].to_numpy()), points.index)
        for _, points in by_method
    ]
    strengths = [find_strength(*row) for row in table[keys[2:]].itertuples(index=False)]
    return table.assign(pareto=pd.concat(fronts), strength=strengths)


def find_strength(data: str, printed: str, method: str) -> float:
    """The value of the setting that Figure 2 varies; CE has none."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    return point.value(STRENGTH[printed]) if printed in STRENGTH else float("nan")


def choose_datasets(table: pd.DataFrame, compared: list[str], fewest: int) -> list[tuple[str, pd.DataFrame]]:
    """The data sets on which one of these methods has at least so many points; all, if there is none."""
    datasets = split_by_dataset(table)
    shown = [
        part[part["paper_method"].isin(compared)].groupby("paper_method")["method"].nunique().ge(fewest).any()
        for _, part in datasets
    ]
    return [dataset for dataset, here in zip(datasets, shown, strict=True) if here] or datasets


def draw_figure_2(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Test accuracy against Leakage@h over the strength of each method; circled: on the Pareto front of the method."""
    table = list_points(artifact_runs)
    datasets = choose_datasets(table, list(STRENGTH), 2)
    figure, axes = create_panels(len(datasets), COLUMN * max(len(datasets), 1.4), 2.6)
    for axis, (name, part) in zip(axes, datasets, strict=True):
        for method in order_methods(part["paper_method"]):
            plot_strengths(axis, rows_where(part, paper_method=method).sort_values("strength"), method)
        front = part[part["pareto"] & (part["paper_method"] != "ce")]
        ring = {"facecolors": "none", "edgecolors": "#c62828", "linewidths": 0.9, "zorder": 3}
        axis.scatter(front[LEAKAGE], front[ACCURACY], s=55, **ring)
        axis.set(xlabel=LABELS[LEAKAGE], ylabel=LABELS[ACCURACY])
        axis.set_title(name, fontsize=6)
    for method in order_methods(table["paper_method"]):  # also those that the last panel lacks
        axes[-1].plot([], [], color=COLORS[method], label=NAMES[method], **MARKS[method == "ce"])
    axes[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure, table)


def plot_strengths(axis: Any, points: pd.DataFrame, method: str) -> None:
    """The points of a method, joined by strength, which stands at them; once for neighbors that lie together."""
    axis.plot(points[LEAKAGE], points[ACCURACY], color=COLORS[method], **MARKS[method == "ce"])
    if method not in STRENGTH:
        return
    *shift, ha, va = LABEL_PLACES[method]
    color = tuple(0.6 * np.array(to_rgb(COLORS[method])))
    place = {"textcoords": "offset points", "ha": ha, "va": va, "fontsize": 5, "color": color}
    for together in join_neighbors(points[[LEAKAGE, ACCURACY]].to_numpy()):
        ends = dict.fromkeys(f"{points['strength'].iloc[i]:g}" for i in (together[0], together[-1]))
        axis.annotate("–".join(ends), points[[LEAKAGE, ACCURACY]].iloc[together[-1]], shift, **place)


def join_neighbors(points: Array, near: float = 0.5) -> list[list[int]]:
    """The numbers of points (n,2), in groups: each is within ``near`` of the one before it, in both directions."""
    groups: list[list[int]] = []
    for i, point in enumerate(points):
        if i and np.all(np.abs(point - points[i - 1]) < near):
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def draw_figure_3(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Accuracy, GAP and both leakages of CE, of CE with one contrastive loss, and of Con, at their selected
    settings."""
    metrics, _ = selected_settings.load_selected(artifact_runs)
    values = select_test(metrics, group="", metric=[*LABELS], paper_method=PARTS)
    values = values.assign(value=100 * values["value"])
    datasets = choose_datasets(values, ["con_ce_scl", "con_ce_fcl"], 1)
    figure, rows = start_rows(datasets, len(LABELS), 2 * COLUMN, 1.75)
    for row, part in rows:
        for axis, (metric, label) in zip(row, LABELS.items(), strict=True):
            draw_bars(axis, rows_where(part, metric=metric), label)
    shown = ["metric", "paper_dataset", "used_dataset", "data", "paper_method", "method", "seed", "value"]
    write_figure(output, figure, values[shown])


def draw_bars(axis: Any, values: pd.DataFrame, label: str) -> None:
    """A metric by method; of leakage, the level of guessing too."""
    order = [method for method in PARTS if method in set(values["paper_method"])]
    plot_bars(axis, values, order)
    axis.set(xlabel="", ylabel=label)
    if label in (LABELS[LEAKAGE], LABELS[LOGITS]):
        limit_percent(axis, 0)
        axis.axhline(50, color="0.5", linestyle=":", linewidth=1)
    axis.set_xticks(range(len(order)), [NAMES[m].replace("CE ", "CE\n") for m in order], fontsize=6)


if __name__ == "__main__":
    main({"figure_2": draw_figure_2, "figure_3": draw_figure_3, "figure_4": draw_figure_4})
