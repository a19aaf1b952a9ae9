"""Figures 2, 6, 10 and 11 of Correct-N-Contrast: maps of representations, coloured by class, attribute and inferred
labels."""

from pathlib import Path
from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.lines import Line2D

from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLUMN, NAMES, data_name, named_rows, write_figure
from despur.reporting.projections import load_projections
from despur.reporting.tables import headline, load_metrics
from despur.specs.paths import locate
from despur.storage.store import Array, Container, write_csv

PALETTE = sns.color_palette("colorblind", 10)


def draw(axis: Any, points: pd.DataFrame, labels: Array, title: str) -> None:
    """A map without scales, since its units mean nothing; samples in random order."""
    order = points.sample(frac=1, random_state=0).index
    colors = [PALETTE[label % len(PALETTE)] for label in labels[order]]
    axis.scatter(points["x1"][order], points["x2"][order], c=colors, s=1.6, linewidths=0, rasterized=True)
    axis.set(xticks=[], yticks=[])
    axis.set_title(title)
    for spine in axis.spines.values():
        spine.set(visible=True, color="0.8", linewidth=0.5)


def legend(axis: Any, points: pd.DataFrame) -> None:
    """Right of a row: what a colour means in the panels by class and in those by attribute."""
    names = [
        points.drop_duplicates(key).set_index(key)[name].to_dict() for key, name in (("y", "class"), ("a", "attribute"))
    ]
    numbers = sorted(set().union(*names))
    drawn = [Line2D([], [], color=PALETTE[n % len(PALETTE)], marker="o", linestyle="") for n in numbers]
    texts = [f"{names[0].get(n, '–')} | {names[1].get(n, '–')}" for n in numbers]
    axis.legend(
        drawn,
        texts,
        title=f"class | {points['kind_of_attribute'][0]}",
        loc="center left",
        bbox_to_anchor=(1, 0.5),
        handletextpad=0,
    )


def pair(axes: Any, points: pd.DataFrame, *words: str) -> None:
    """The same map by class and by attribute, with words above each."""
    for axis, labels, kind, text in zip(
        axes, ("y", "a"), ("class", points["kind_of_attribute"][0]), words, strict=True
    ):
        draw(axis, points, points[labels].to_numpy(), f"{text}\nby {kind}")


def by_data(cells: list[Cell]) -> list[tuple[str, list[Cell]]]:
    """The cells of each data set that plays a part, with its name."""
    found: dict[str, list[Cell]] = {}
    for cell in cells:
        found.setdefault(data_name(cell.role, cell.dataset), []).append(cell)
    return list(found.items())


def figure_2(cells: list[Cell], output: Path) -> None:
    """Test representations of ERM at the lowest and the highest p_corr."""
    test = (
        headline(load_metrics(cells))
        .query("metric == 'worst_group_accuracy' and seed == seed.min()")
        .set_index(["played", "data"])
    )
    figure, axes = named_rows([data_name(cell.role, cell.dataset) for cell in cells], 4, 2 * COLUMN, 1.9)
    drawn = []
    for row, cell in zip(axes, cells, strict=True):
        for pair_axes, points in zip((row[:2], row[2:]), load_projections(output, cell), strict=True):
            run = test.loc[(cell.dataset, points["data"][0])].squeeze()
            level, worst = float(run["data.p_corr"]), run["value"]
            pair(pair_axes, points, f"$p_{{corr}}$ = {level:g}", f"worst group {worst:.0%}")
            drawn.append(points.assign(p_corr=level))
        legend(row[3], points)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(drawn))


def figure_11(cells: list[Cell], output: Path) -> None:
    """Test representations by class and by attribute, for each method; a row for each data set."""
    rows = by_data(cells)
    figure, axes = named_rows([name for name, _ in rows], 2 * max(len(mine) for _, mine in rows), 2 * COLUMN, 1.5)
    drawn = []
    for row, (_, mine) in zip(axes, rows, strict=True):
        for i, cell in enumerate(mine):
            (points,) = load_projections(output, cell)
            pair(row[2 * i : 2 * i + 2], points, *2 * [NAMES[cell.printed]])
            drawn.append(points)
        legend(row[-1], points)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(drawn))


def figure_10(cells: list[Cell], output: Path) -> None:
    """Stage-1 representations of training samples by ERM prediction, true attribute and cluster, and how well these
    match the attribute."""
    agreement = load_metrics(cells).query("metric == 'best_match'")
    rows = by_data(cells)
    figure, axes = named_rows([name for name, _ in rows], 3, 1.6 * COLUMN, 1.9)
    drawn = []
    for row, (_, mine) in zip(axes, rows, strict=True):
        named = {cell.printed: cell for cell in mine}
        (points,) = load_projections(output, named["erm"])
        for kind in ("predictions", "clusters"):
            folder = Path(named[kind].folders[0])
            labels = Container(folder / "groups.safetensors")[locate(folder).runs()[0].key]
            points[kind] = labels[points["position"]]
            points[f"{kind}_match"] = _match(agreement, named[kind], points["seed"][0])
        draw(
            row[0],
            points,
            points["predictions"].to_numpy(),
            f"ERM predictions\nmatch {points['predictions_match'][0]:.1%}",
        )
        draw(row[1], points, points["a"].to_numpy(), f"true {points['kind_of_attribute'][0]}\n(for analysis only)")
        draw(row[2], points, points["clusters"].to_numpy(), f"clusters\nmatch {points['clusters_match'][0]:.1%}")
        legend(row[2], points)
        drawn.append(points)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(drawn))


def _match(agreement: pd.DataFrame, cell: Cell, seed: int) -> float:
    """The share of samples whose inferred label, named as matches best, is the attribute."""
    asked = {"role": cell.role, "played": cell.dataset, "printed": cell.printed, "seed": seed}
    return float(agreement[(agreement[list(asked)] == list(asked.values())).all(axis=1)]["value"].item())
