"""Figures 2, 6, 10 and 11: UMAP projections of representations, colored by class, attribute and inferred labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from despur.evidence.numbers.tables import format_spread
from despur.evidence.runs.artifact_metrics import load_metrics, rows_of_data, rows_where, select_test
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.figures import COLUMN, PALETTE, label_rows, name_data, write_figure
from despur.reporting.printed_names import NAMES
from despur.reporting.projections import load_projections
from despur.specs.paths import locate_result
from despur.storage.containers import Container
from despur.storage.store import Array


def plot_points(axis: Any, points: pd.DataFrame, labels: Array, title: str) -> None:
    """A projection without scales, since its units mean nothing; samples in random order."""
    order = points.sample(frac=1, random_state=0).index
    colors = [PALETTE[label % len(PALETTE)] for label in labels[order]]
    axis.scatter(points["x1"][order], points["x2"][order], c=colors, s=1.6, linewidths=0, rasterized=True)
    axis.set(xticks=[], yticks=[])
    axis.set_title(title)
    for spine in axis.spines.values():
        spine.set(visible=True, color="0.8", linewidth=0.5)


def plot_pair(axes: Any, points: pd.DataFrame, titles: Sequence[str]) -> None:
    """The same projection by class and by attribute, with a title above each."""
    plot_points(axes[0], points, points["y"].to_numpy(), f"{titles[0]}\nby class")
    plot_points(axes[1], points, points["a"].to_numpy(), f"{titles[1]}\nby {points['kind_of_attribute'][0]}")


def add_legend(axis: Any, points: pd.DataFrame) -> None:
    """Right of a row: what a color means in the panels by class and in those by attribute."""
    classes = points.drop_duplicates("y").set_index("y")["class"].to_dict()
    attributes = points.drop_duplicates("a").set_index("a")["attribute"].to_dict()
    numbers = sorted({*classes, *attributes})
    axis.legend(
        [Line2D([], [], color=PALETTE[n % len(PALETTE)], marker="o", linestyle="") for n in numbers],
        [f"{classes.get(n, '–')} | {attributes.get(n, '–')}" for n in numbers],
        title=f"class | {points['kind_of_attribute'][0]}",
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        handletextpad=0,
    )


def group_by_dataset(artifact_runs: list[ArtifactRun]) -> dict[str, list[ArtifactRun]]:
    """The runs on each data set, by its name."""
    by_dataset: dict[str, list[ArtifactRun]] = {}
    for artifact_run in artifact_runs:
        by_dataset.setdefault(name_data(artifact_run.paper_dataset, artifact_run.dataset), []).append(artifact_run)
    return by_dataset


def draw_figure_2(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Test representations of ERM at the lowest and the highest p_corr."""
    test = select_test(load_metrics(artifact_runs))
    worst = rows_where(test, metric="worst_group_accuracy", seed=test["seed"].min())
    runs = worst.set_index(["used_dataset", "data"])
    names = [name_data(artifact_run.paper_dataset, artifact_run.dataset) for artifact_run in artifact_runs]
    figure, axes = label_rows(names, 4, 2 * COLUMN, 1.9)
    tables = []
    for row, artifact_run in zip(axes, artifact_runs, strict=True):
        for pair, points in zip((row[:2], row[2:]), load_projections(output, artifact_run), strict=True):
            run = runs.loc[(artifact_run.dataset, points["data"][0])].squeeze()
            p_corr = float(run["data.p_corr"])
            plot_pair(pair, points, (f"$p_{{corr}}$ = {p_corr:g}",) * 2)
            pair[0].set_xlabel(f"worst group: {run['value']:.0%}")
            tables.append(points.assign(p_corr=p_corr))
        add_legend(row[3], points)
    write_figure(output, figure, pd.concat(tables))


def draw_figure_6_11(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Test representations by class and by attribute, for each method; a row for each data set."""
    rows = group_by_dataset(artifact_runs)
    figure, axes = label_rows(list(rows), 2 * max(map(len, rows.values())), 2 * COLUMN, 1.5)
    tables = []
    for row, mine in zip(axes, rows.values(), strict=True):
        for i, artifact_run in enumerate(mine):
            (points,) = load_projections(output, artifact_run)
            plot_pair(row[2 * i : 2 * i + 2], points, (NAMES[artifact_run.paper_method],) * 2)
            tables.append(points)
        add_legend(row[-1], points)
    write_figure(output, figure, pd.concat(tables))


def draw_figure_10(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Stage-1 representations of training samples by ERM prediction, true attribute and cluster, and how well these
    match the attribute."""
    agreement = rows_where(load_metrics(artifact_runs), metric="best_match")
    rows = group_by_dataset(artifact_runs)
    figure, axes = label_rows(list(rows), 3, 1.6 * COLUMN, 1.9)
    tables = []
    for row, mine in zip(axes, rows.values(), strict=True):
        by_kind = {artifact_run.paper_method: artifact_run for artifact_run in mine}
        points = load_inferred_labels(output, by_kind, agreement)
        match = {kind: describe_match(agreement, row_run) for kind, row_run in by_kind.items() if kind != "erm"}
        attribute = f"true {points['kind_of_attribute'][0]}\n(for analysis only)"
        plot_points(row[0], points, points["predictions"].to_numpy(), f"ERM predictions\n{match['predictions']}")
        plot_points(row[1], points, points["a"].to_numpy(), attribute)
        plot_points(row[2], points, points["clusters"].to_numpy(), f"clusters\n{match['clusters']}")
        add_legend(row[2], points)
        tables.append(points)
    write_figure(output, figure, pd.concat(tables))


def load_inferred_labels(output: Path, artifact_runs: dict[str, ArtifactRun], agreement: pd.DataFrame) -> pd.DataFrame:
    """ERM's projection with the labels that each inference gives its samples, and how well they match the attribute."""
    (points,) = load_projections(output, artifact_runs["erm"])
    for kind in ("predictions", "clusters"):
        folder = Path(artifact_runs[kind].folders[0])
        labels = Container(folder / "groups.safetensors")[locate_result(folder).runs()[0].key]
        points[kind] = labels[points["position"]]
        points[f"{kind}_match"] = select_matches(agreement, artifact_runs[kind])[points["seed"][0]]
    return points


def select_matches(agreement: pd.DataFrame, artifact_run: ArtifactRun) -> pd.Series:
    """By seed, the share of samples whose inferred label is the attribute, under the best one-to-one naming."""
    rows = rows_of_data(agreement, artifact_run, paper_method=artifact_run.paper_method)
    return rows.set_index("seed")["value"]


def describe_match(agreement: pd.DataFrame, artifact_run: ArtifactRun) -> str:
    """``match 93.3 (1.2) %``: mean and standard deviation over seeds."""
    matches = 100 * select_matches(agreement, artifact_run)
    return f"match {format_spread(matches.mean(), matches.std())} %"
