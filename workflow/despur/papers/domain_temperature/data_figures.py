"""Figures 2 and 3, of the data alone: example digits of each split, and how their colors are distributed."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from despur.compute.randomness import derive_generator
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.selection import without_sigma
from despur.reporting.figures import COLUMN, create_grid, label_rows, name_data, write_figure
from despur.specs.spec import Spec
from despur.storage.store import Array, Dataset, load_dataset

SPLITS = {"train": "Train", "val": "Validation", "test_id": "Test-ID", "test_ood": "Test-OOD"}
ROWS, COLUMNS = 5, 6  # examples of a split
CHANNELS = ("red", "green", "blue")
SAMPLES = 200  # of a domain: colors that are drawn


def load_first_seed(artifact_run: ArtifactRun) -> list[tuple[Spec, Dataset]]:
    """The first seed's data, at each sigma."""
    result = artifact_run.result
    first = {run.data.settings["sigma"]: run.data for run in reversed(result.runs())}
    return [(first[sigma], load_dataset(result.data.folder, first[sigma].name)) for sigma in sorted(first)]


def draw_figure_2(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Randomly drawn digits of each split, at sigma = 50."""
    names = [name_data(artifact_run.paper_dataset, artifact_run.dataset) for artifact_run in artifact_runs]
    figure, axes = label_rows(names, len(SPLITS), 2 * COLUMN, 1.7)
    tables = []
    for row, artifact_run in zip(axes, artifact_runs, strict=True):
        data, dataset = next(pair for pair in load_first_seed(artifact_run) if pair[0].settings["sigma"] == 50)
        for axis, letter, (split, name) in zip(row, "abcd", SPLITS.items(), strict=True):
            rows = derive_generator(f"figure_2/{split}").permutation(dataset.rows(split))[: ROWS * COLUMNS]
            axis.imshow(arrange_images(np.stack([dataset.inputs[i] for i in rows])))
            axis.set(xticks=[], yticks=[])
            axis.set_title(f"({letter}) {name}", loc="left")
            table = dataset.table.iloc[rows][["split", "y", "a"]].assign(data=data.name, sample=rows)
            tables.append(table.assign(domain=np.array(dataset.about["attributes"])[table["a"]]))
    write_figure(output, figure, pd.concat(tables))


def arrange_images(images: Array) -> Array:
    """Images (ROWS*COLUMNS,H,W,3) as one (ROWS*H,COLUMNS*W,3)."""
    height, width = images.shape[1:3]
    return images.reshape(ROWS, COLUMNS, height, width, 3).swapaxes(1, 2).reshape(ROWS * height, COLUMNS * width, 3)


def draw_figure_3(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Colors in RGB space and by channel, of each domain; a row for each sigma."""
    tables = [measure_colors(*pair) for artifact_run in artifact_runs for pair in load_first_seed(artifact_run)]
    names = [
        name_data(artifact_run.paper_dataset, without_sigma(artifact_run.dataset)) for artifact_run in artifact_runs
    ]
    figure, axes = create_grid(len(tables), 1 + len(CHANNELS), 2 * COLUMN, 1.3)
    figure.suptitle(", ".join(dict.fromkeys(names)))
    for row, table in zip(axes, tables, strict=True):
        place = row[0].get_subplotspec()
        row[0].remove()
        plot_color_space(figure.add_subplot(place, projection="3d"), table)
        for axis, channel in zip(row[1:], CHANNELS, strict=True):
            plot_channel(axis, table, channel)
        row[1].set_title(f"$\\sigma$ = {table['sigma'].iloc[0]:g}", loc="left")
    write_figure(output, figure, pd.concat(tables))


def measure_colors(data: Spec, dataset: Dataset) -> pd.DataFrame:
    """The color of a sample's brightest pixel, 0 to 255 (its ink, where the digit is fully drawn), of some samples of
    each domain."""
    parts = []
    for value, name in enumerate(dataset.about["attributes"]):
        mine = np.flatnonzero((dataset.table["a"] == value).to_numpy())
        rows = np.sort(derive_generator(f"figure_3/{name}").permutation(mine)[:SAMPLES])
        brightest = np.array([dataset.inputs[i].reshape(-1, 3).max(axis=0) for i in rows])
        parts.append(pd.DataFrame(brightest, columns=list(CHANNELS)).assign(domain=name, sample=rows))
    return pd.concat(parts, ignore_index=True).assign(data=data.name, sigma=data.settings["sigma"])


def plot_color_space(axis: Any, table: pd.DataFrame) -> None:
    """Each sample at its color, in RGB space."""
    axis.scatter(*(table[c] for c in CHANNELS), c=table[list(CHANNELS)].to_numpy() / 255, s=4, linewidths=0)
    axis.set(xlim=(0, 255), ylim=(0, 255), zlim=(0, 255), xticks=[], yticks=[], zticks=[])
    for set_label, channel in zip((axis.set_xlabel, axis.set_ylabel, axis.set_zlabel), CHANNELS, strict=True):
        set_label(channel, labelpad=-15, fontsize=6)


def plot_channel(axis: Any, table: pd.DataFrame, channel: str) -> None:
    """The distribution of one channel by domain; a domain is drawn in the color of its name."""
    palette = {name: name for name in table["domain"].unique()}
    style = {"bins": np.arange(0, 256, 15), "element": "step", "stat": "density", "common_norm": False, "alpha": 0.25}
    sns.histplot(table, x=channel, hue="domain", palette=palette, legend=False, ax=axis, **style)
    axis.set(xlim=(0, 255), ylabel="density", yticks=[], xlabel=channel)
