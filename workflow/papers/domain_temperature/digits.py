"""Figures 2 and 3: example digits of each split, and how their colours are distributed. Of the data alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from despur.compute.randomness import generator
from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLUMN, data_name, grid, named_rows, write_figure
from despur.specs.paths import locate
from despur.specs.spec import Spec
from despur.storage.store import Array, Dataset, load_dataset, write_csv

SPLITS = {"train": "Train", "val": "Validation", "test_id": "Test-ID", "test_ood": "Test-OOD"}
ROWS, COLUMNS = 5, 6  # examples of a split
CHANNELS = ("red", "green", "blue")
SAMPLES = 200  # colours of a domain that are drawn


def data_of(cell: Cell) -> list[tuple[Spec, Dataset]]:
    """The first seed's data, at each sigma."""
    result = locate(cell.folders[0])
    first = {run.data.settings["sigma"]: run.data for run in reversed(result.runs())}
    return [(first[sigma], load_dataset(result.data.folder, first[sigma].name)) for sigma in sorted(first)]


def montage(images: Array) -> Array:
    """Images (ROWS*COLUMNS,H,W,3) as one (ROWS*H,COLUMNS*W,3)."""
    height, width = images.shape[1:3]
    return images.reshape(ROWS, COLUMNS, height, width, 3).swapaxes(1, 2).reshape(ROWS * height, COLUMNS * width, 3)


def figure_2(cells: list[Cell], output: Path) -> None:
    """Randomly drawn digits of each split, at sigma = 50."""
    drawn = []
    figure, axes = named_rows([data_name(cell.role, cell.dataset) for cell in cells], len(SPLITS), 2 * COLUMN, 1.7)
    for row, cell in zip(axes, cells, strict=True):
        data, dataset = next(pair for pair in data_of(cell) if pair[0].settings["sigma"] == 50)
        for axis, letter, (split, name) in zip(row, "abcd", SPLITS.items(), strict=True):
            rows = generator(f"figure_2/{split}").permutation(dataset.rows(split))[: ROWS * COLUMNS]
            axis.imshow(montage(np.stack([dataset.inputs[i] for i in rows])))
            axis.set(xticks=[], yticks=[])
            axis.set_title(f"({letter}) {name}", loc="left")
            about = dataset.table.iloc[rows][["split", "y", "a"]].assign(data=data.name, sample=rows)
            drawn.append(about.assign(domain=np.array(dataset.about["attributes"])[about["a"]]))
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(drawn))


def colours(data: Spec, dataset: Dataset) -> pd.DataFrame:
    """The colour of a sample's brightest pixel, 0 to 255 (its ink, where the digit is fully drawn), of some samples of
    each domain."""
    names = np.array(dataset.about["attributes"])
    parts = []
    for value, name in enumerate(names):
        mine = np.flatnonzero((dataset.table["a"] == value).to_numpy())
        rows = np.sort(generator(f"figure_3/{name}").permutation(mine)[:SAMPLES])
        brightest = np.array([dataset.inputs[i].reshape(-1, 3).max(axis=0) for i in rows])
        parts.append(pd.DataFrame(brightest, columns=list(CHANNELS)).assign(domain=name, sample=rows))
    return pd.concat(parts, ignore_index=True).assign(data=data.name, sigma=data.settings["sigma"])


def draw(row: Any, table: pd.DataFrame) -> None:
    """Colours in RGB space, and the distribution of each channel by domain."""
    row[0].scatter(*(table[c] for c in CHANNELS), c=table[list(CHANNELS)].to_numpy() / 255, s=4, linewidths=0)
    row[0].set(xlim=(0, 255), ylim=(0, 255), zlim=(0, 255), xticks=[], yticks=[], zticks=[])
    for label, text in ((row[0].set_xlabel, "red"), (row[0].set_ylabel, "green"), (row[0].set_zlabel, "blue")):
        label(text, labelpad=-15, fontsize=6)
    palette = {name: name for name in table["domain"].unique()}
    for axis, channel in zip(row[1:], CHANNELS, strict=True):
        own = {
            "x": channel,
            "hue": "domain",
            "palette": palette,
            "bins": np.arange(0, 256, 15),
            "element": "step",
            "stat": "density",
        }
        sns.histplot(table, common_norm=False, alpha=0.25, legend=False, ax=axis, **own)
        axis.set(xlim=(0, 255), ylabel="", yticks=[], xlabel=channel)


def figure_3(cells: list[Cell], output: Path) -> None:
    """Colours in RGB space and by channel, of each domain; a row for each sigma."""
    found = [(cell, colours(*pair)) for cell in cells for pair in data_of(cell)]
    figure, axes = grid(len(found), 4, 2 * COLUMN, 1.3)
    for row, (_, table) in zip(axes, found, strict=True):
        result = row[0].get_subplotspec()
        row[0].remove()
        row[0] = figure.add_subplot(result, projection="3d")
        draw(row, table)
        row[1].set_title(f"$\\sigma$ = {table['sigma'].iloc[0]:g}", loc="left")
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat([table for _, table in found]))
