"""Figures 1, 12 and 13: Grad-CAM maps laid over test images, and how much of them lies on the foreground."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from despur.evidence.runs.artifact_metrics import load_saliency, rows_of_data
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.figures import COLUMN, create_grid, name_data, plot_bars, write_figure
from despur.reporting.printed_names import NAMES
from despur.storage.containers import Container
from despur.storage.store import Array, Dataset, load_dataset

GROUPS = 4  # at most; Waterbirds and CelebA have no more
EXAMPLES = 2  # of each group, in Figures 12 and 13
PANELS = {"erm": "(a) ERM", "cnc": "(c) CNC"}  # of Figure 1; (b) is a scheme
NO_MASKS = "not applicable:\nno masks"
RIGHT, WRONG = "#1a7f37", "#c62828"


@dataclass(frozen=True)
class ExplainedRun:
    """The first seed of a run: ``images``, ``maps`` and ``predicted`` of the samples at ``rows`` of its data."""

    artifact_run: ArtifactRun
    dataset: Dataset
    arrays: dict[str, Array]

    def find(self, row: int, name: str) -> Array:
        """One of the arrays at a row of the data."""
        return self.arrays[name][np.flatnonzero(self.arrays["rows"] == row)[0]]

    def is_right(self, row: int) -> bool:
        return bool(self.find(row, "predicted") == self.dataset.y[row])

    def rarest_groups(self) -> list[int]:
        """Of the groups with test images, the smallest in training."""
        present = [i for i in range(len(self.dataset.about["groups"])) if len(self.examples(i))]
        return sorted(sorted(present, key=self.count_training)[:GROUPS])

    def count_training(self, group: int) -> int:
        """How many samples of a group were trained on."""
        assert self.dataset.groups is not None
        return int(self.dataset.groups[self.dataset.rows("train"), group].sum())

    def examples(self, group: int) -> Array:
        """Rows of a group's examples, in their random order."""
        assert self.dataset.groups is not None
        return self.arrays["rows"][self.dataset.groups[self.arrays["rows"], group]]

    def describe_group(self, group: int) -> str:
        return f"{self.dataset.about['groups'][group]}\n{self.count_training(group):,} in training"


def load_run(artifact_run: ArtifactRun) -> ExplainedRun:
    """What the saliency stage wrote of a run's first seed."""
    result = artifact_run.result
    run = result.runs()[0]
    arrays = Container(result.folder / "saliency.safetensors").load_arrays(run.key)
    return ExplainedRun(artifact_run, load_dataset(result.data.folder, run.data.name), arrays)


def load_by_dataset(artifact_runs: Sequence[ArtifactRun]) -> list[list[ExplainedRun]]:
    """The runs of the methods on each data set."""
    groups = groupby(artifact_runs, key=lambda artifact_run: (artifact_run.paper_dataset, artifact_run.dataset))
    return [[load_run(artifact_run) for artifact_run in runs] for _, runs in groups]


def plot_image(axis: Any, run: ExplainedRun, row: int) -> None:
    """A test image."""
    axis.imshow(run.find(row, "images"))
    axis.set(xticks=[], yticks=[])
    sns.despine(ax=axis, left=True, bottom=True)


def plot_saliency(axis: Any, run: ExplainedRun, row: int) -> None:
    """A test image under its map, and the class that the model predicts."""
    plot_image(axis, run, row)
    heat = run.find(row, "maps")
    axis.imshow(heat, cmap="turbo", vmin=0, vmax=1, alpha=0.25 + 0.4 * heat)
    name, right = run.dataset.about["classes"][run.find(row, "predicted")], run.is_right(row)
    axis.set_xlabel(f"{'✓' if right else '✗'} {name}", color=RIGHT if right else WRONG, fontsize=6, labelpad=1)


def describe_shares(shares: pd.DataFrame, artifact_run: ArtifactRun) -> str:
    """Share of saliency on the foreground, averaged over groups; mean and standard deviation over seeds."""
    rows = rows_of_data(shares, artifact_run, paper_method=artifact_run.paper_method)
    means = 100 * rows.groupby("seed")[["inside", "uniform"]].mean()
    if means["inside"].isna().all():
        return NO_MASKS
    spread = f" ± {means['inside'].std():.0f}" if len(means) > 1 else ""
    return (
        f"{means['inside'].mean():.0f}{spread} %\nof saliency on\nforeground,\nwhich is "
        f"{means['uniform'].mean():.0f} %\nof the image"
    )


def draw_figure_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """An image of each group, with the maps of ERM (a) and CNC (c): the first that ERM gets wrong, if there is one."""
    data, shares = load_by_dataset(artifact_runs), load_saliency(artifact_runs)
    figure, axes = create_grid(sum(1 + len(runs) for runs in data), GROUPS + 1, 1.6 * COLUMN, 1.05)
    lines = iter(axes)
    for runs in data:
        first, groups = runs[0], runs[0].rarest_groups()
        rows = [min(first.examples(group), key=first.is_right) for group in groups]
        for axis, group, row in zip(next(lines), groups, rows, strict=False):
            plot_image(axis, first, row)
            axis.set_title(first.describe_group(group), fontsize=7)
        for run in runs:
            line = next(lines)
            line[0].set_ylabel(PANELS[run.artifact_run.paper_method])
            text = describe_shares(shares, run.artifact_run)
            line[-1].text(0, 0.5, text, va="center", fontsize=7, transform=line[-1].transAxes)
            for axis, row in zip(line, rows, strict=False):
                plot_saliency(axis, run, row)
    write_saliency_figure(figure, axes, artifact_runs, shares, output)


def draw_figure_12_13(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Each group's first examples with the map of every method, and the share on the foreground by method."""
    data, shares = load_by_dataset(artifact_runs), load_saliency(artifact_runs)
    lines = [(runs, group) for runs in data for group in runs[0].rarest_groups()]
    width = 1 + max(map(len, data))  # panels of an example: the image, and each method's map
    ratios = {"width_ratios": [1] * EXAMPLES * width + [1.6]}
    figure, axes = create_grid(len(lines), EXAMPLES * width + 1, 2 * COLUMN, 1.0, gridspec_kw=ratios)
    for line, (runs, group) in zip(axes, lines, strict=True):
        line[0].set_ylabel(runs[0].describe_group(group), fontsize=6)
        for i, row in enumerate(runs[0].examples(group)[:EXAMPLES]):
            image, *maps = line[i * width : (i + 1) * width]
            plot_image(image, runs[0], row)
            for axis, run in zip(maps, runs, strict=False):
                plot_saliency(axis, run, row)
        plot_shares(line[-1], shares, runs, group)
    names = ["input", *(NAMES[run.artifact_run.paper_method] for run in data[0])] * EXAMPLES
    for axis, name in zip(axes[0], [*names, "on foreground, %\n(dashed: its area)"], strict=True):
        axis.set_title(name, fontsize=7)
    write_saliency_figure(figure, axes, artifact_runs, shares, output)


def plot_shares(axis: Any, shares: pd.DataFrame, runs: Sequence[ExplainedRun], group: int) -> None:
    """Share of a group's saliency on the foreground by method: mean, standard deviation and dots over seeds; dashed:
    if it were uniform."""
    rows = rows_of_data(shares, runs[0].artifact_run, group=runs[0].dataset.about["groups"][group])
    if rows["inside"].isna().all():
        axis.text(0.5, 0.5, NO_MASKS, ha="center", va="center", fontsize=6, transform=axis.transAxes)
        return
    methods = [run.artifact_run.paper_method for run in runs]
    plot_bars(axis, rows.assign(percent=100 * rows["inside"]), methods, 2, x="percent", y="paper_method")
    axis.axvline(100 * rows["uniform"].mean(), color="0.3", linestyle="--", linewidth=0.8)
    axis.set(xlabel="", ylabel="", xlim=(0, 105 * shares["inside"].max()))
    axis.set_yticks(range(len(methods)), [NAMES[method] for method in methods])
    axis.tick_params(labelsize=6)


def write_saliency_figure(
    figure: Any, axes: Any, artifact_runs: Sequence[ArtifactRun], shares: pd.DataFrame, output: Path
) -> None:
    """Name the data, hide what stayed empty, and write the figure and its shares."""
    named = dict.fromkeys(name_data(artifact_run.paper_dataset, artifact_run.dataset) for artifact_run in artifact_runs)
    figure.suptitle("; ".join(named), fontsize=8)
    for axis in axes.flat:
        if not axis.has_data():
            axis.set_axis_off()
    write_figure(output, figure, shares)
