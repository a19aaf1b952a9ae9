"""Where models look: Grad-CAM maps laid over test images, and how much of them lies on the foreground (Figures 1, 12,
13)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLORS, COLUMN, NAMES, data_name, grid, write_figure
from despur.specs.paths import locate
from despur.storage.store import Array, Container, Dataset, load_dataset, write_csv

GROUPS = 4  # at most; Waterbirds and CelebA have no more
EXAMPLES = 2  # of each group, in Figures 12 and 13
PARTS = {"erm": "(a) ERM", "cnc": "(c) CNC"}  # of Figure 1; (b) is a scheme
NO_MASKS = "not applicable:\nno masks"
RIGHT, WRONG = "#1a7f37", "#c62828"


@dataclass(frozen=True)
class View:
    """What the first run of a cell sees: ``images``, ``maps``, ``predicted`` of the samples at ``rows`` of its data."""

    cell: Cell
    dataset: Dataset
    arrays: dict[str, Array]

    @classmethod
    def of(cls, cell: Cell) -> "View":
        result = locate(cell.folders[0])
        run = result.runs()[0]
        arrays = Container(result.folder / "saliency.safetensors").under(run.key)
        return cls(cell, load_dataset(result.data.folder, run.data.name), arrays)

    def at(self, row: int, name: str) -> Array:
        return self.arrays[name][np.flatnonzero(self.arrays["rows"] == row)[0]]

    def right(self, row: int) -> bool:
        return bool(self.at(row, "predicted") == self.dataset.y[row])

    @property
    def groups(self) -> list[int]:
        """The groups that are shown: of those with test images, the smallest in training."""
        held = [i for i in range(len(self.dataset.about["groups"])) if len(self.examples(i))]
        return sorted(sorted(held, key=self.trained)[:GROUPS])

    def trained(self, group: int) -> int:
        """How many samples of a group were trained on."""
        assert self.dataset.groups is not None
        return int(self.dataset.groups[self.dataset.rows("train"), group].sum())

    def examples(self, group: int) -> Array:
        """Rows of a group's examples, in their random order."""
        assert self.dataset.groups is not None
        return self.arrays["rows"][self.dataset.groups[self.arrays["rows"], group]]


def load_shares(cells: Sequence[Cell]) -> pd.DataFrame:
    """saliency.csv of all cells, with role and printed method."""
    parts = [
        pd.read_csv(Path(folder) / "saliency.csv", dtype={"group": str}).assign(
            role=cell.role, played=cell.dataset, printed=cell.printed
        )
        for cell in cells
        for folder in cell.folders
    ]
    return pd.concat(parts, ignore_index=True)


def by_data(cells: Sequence[Cell]) -> list[list[View]]:
    """The views of the methods on each data set."""
    return [[View.of(cell) for cell in part] for _, part in groupby(cells, key=lambda cell: (cell.role, cell.dataset))]


def bare(axis: Any, view: View, row: int) -> None:
    """A test image."""
    axis.imshow(view.at(row, "images"))
    axis.set(xticks=[], yticks=[])
    sns.despine(ax=axis, left=True, bottom=True)


def show(axis: Any, view: View, row: int) -> None:
    """A test image under its map, and what the model takes it for."""
    bare(axis, view, row)
    heat = view.at(row, "maps")
    axis.imshow(heat, cmap="turbo", vmin=0, vmax=1, alpha=0.25 + 0.4 * heat)
    name, right = view.dataset.about["classes"][view.at(row, "predicted")], view.right(row)
    axis.set_xlabel(f"{'✓' if right else '✗'} {name}", color=RIGHT if right else WRONG, fontsize=6, labelpad=1)


def title(view: View, group: int) -> str:
    """A group, and how many samples of it were trained on."""
    return f"{view.dataset.about['groups'][group]}\n{view.trained(group):,} in training"


def of_data(shares: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """The shares of all methods on a cell's data."""
    return shares[(shares["role"] == cell.role) & (shares["played"] == cell.dataset)]


def summary(shares: pd.DataFrame, cell: Cell) -> str:
    """Share of saliency on the foreground, averaged over groups; mean and standard deviation over seeds."""
    own = of_data(shares, cell)
    percent = 100 * own[own["printed"] == cell.printed].groupby("seed")[["inside", "uniform"]].mean()
    if percent["inside"].isna().all():
        return NO_MASKS
    spread = f" ± {percent['inside'].std():.0f}" if len(percent) > 1 else ""
    return (
        f"{percent['inside'].mean():.0f}{spread} %\nof saliency on\nforeground,\nwhich is "
        f"{percent['uniform'].mean():.0f} %\nof the image"
    )


def figure_1(cells: list[Cell], output: Path) -> None:
    """The same images, one of each group, for ERM (a) and CNC (c): the first example that ERM gets wrong, if there is
    one."""
    data, shares = by_data(cells), load_shares(cells)
    figure, axes = grid(sum(1 + len(views) for views in data), GROUPS + 1, 1.6 * COLUMN, 1.05)
    lines = iter(axes)
    for views in data:
        rows = [min(views[0].examples(i), key=views[0].right) for i in views[0].groups]
        inputs = next(lines)
        for axis, group, row in zip(inputs, views[0].groups, rows, strict=False):
            bare(axis, views[0], row)
            axis.set_title(title(views[0], group), fontsize=7)
        for view in views:
            line = next(lines)
            line[0].set_ylabel(PARTS[view.cell.printed])
            line[-1].text(0, 0.5, summary(shares, view.cell), va="center", fontsize=7, transform=line[-1].transAxes)
            for axis, row in zip(line, rows, strict=False):
                show(axis, view, row)
    finish(figure, axes, cells, shares, output)


def per_group(cells: list[Cell], output: Path) -> None:
    """Figures 12 and 13: each group's first examples as every method sees them, and the share on the foreground by
    method."""
    data, shares = by_data(cells), load_shares(cells)
    lines = [(views, group) for views in data for group in views[0].groups]
    block = 1 + max(map(len, data))
    figure, axes = grid(
        len(lines), EXAMPLES * block + 1, 2 * COLUMN, 1.0, gridspec_kw={"width_ratios": [1] * EXAMPLES * block + [1.6]}
    )
    for line, (views, group) in zip(axes, lines, strict=True):
        line[0].set_ylabel(title(views[0], group), fontsize=6)
        for i, row in enumerate(views[0].examples(group)[:EXAMPLES]):
            images = line[i * block : (i + 1) * block]
            bare(images[0], views[0], row)
            for axis, view in zip(images[1:], views, strict=False):
                show(axis, view, row)
        bars(line[-1], shares, views, group)
    names = ["input", *(NAMES[view.cell.printed] for view in data[0])] * EXAMPLES
    for axis, name in zip(axes[0], [*names, "on foreground, %"], strict=True):
        axis.set_title(name, fontsize=7)
    finish(figure, axes, cells, shares, output)


def bars(axis: Any, shares: pd.DataFrame, views: Sequence[View], group: int) -> None:
    """Share of a group's saliency on the foreground by method: mean, standard deviation and dots over seeds; dashed:
    if it were uniform."""
    own = of_data(shares, views[0].cell)
    own = own[own["group"] == views[0].dataset.about["groups"][group]]
    if own["inside"].isna().all():
        axis.text(0.5, 0.5, NO_MASKS, ha="center", va="center", fontsize=6, transform=axis.transAxes)
        return
    order = [view.cell.printed for view in views]
    style = {
        "data": own.assign(percent=100 * own["inside"]),
        "x": "percent",
        "y": "printed",
        "order": order,
        "ax": axis,
    }
    sns.barplot(**style, hue="printed", palette=COLORS, errorbar="sd", legend=False, err_kws={"linewidth": 1})
    sns.stripplot(**style, color="0.2", size=2)
    axis.axvline(100 * own["uniform"].mean(), color="0.3", linestyle="--", linewidth=0.8)
    axis.set(xlabel="", ylabel="", xlim=(0, 105 * shares["inside"].max()))
    axis.set_yticks(range(len(order)), [NAMES[m] for m in order])
    axis.tick_params(labelsize=6)


def finish(figure: Any, axes: Any, cells: Sequence[Cell], shares: pd.DataFrame, output: Path) -> None:
    """Name the data, hide what stayed empty, and write the figure and its shares."""
    named = dict.fromkeys(data_name(cell.role, cell.dataset) for cell in cells)
    figure.suptitle("; ".join(named), fontsize=8)
    for axis in axes.flat:
        if not axis.has_data():
            axis.set_axis_off()
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), shares)
