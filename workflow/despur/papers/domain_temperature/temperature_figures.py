"""Figures 6 and 7: the distribution of effective temperatures by epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.effective_temperatures import ALPHA, BETA, load_temperatures
from despur.papers.domain_temperature.selection import without_sigma
from despur.reporting.figures import COLUMN, label_rows, name_data, write_figure
from despur.specs.paths import Run
from despur.storage.store import Array

RIDGES = 8  # epochs of Figure 7: at most so many, evenly spaced
PERCENTILES = [f"p{i}" for i in range(101)]


def draw_figure_6_7(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """A file each, of the first seed's runs: a panel for each data set and sigma. A note where no run has these
    temperatures."""
    temperatures = load_temperatures(artifact_runs)
    first = min((run.seed for _, run, _ in temperatures), default=0)
    temperatures = [(artifact_run, run, values) for artifact_run, run, values in temperatures if run.seed == first]
    names = [name_panel(artifact_run, run) for artifact_run, run, _ in temperatures]
    tables = [table_by_epoch(run, values) for _, run, values in temperatures]
    table = pd.concat(tables or [pd.DataFrame(columns=["data", "seed", "epoch", *PERCENTILES])])
    percentiles = [values for *_, values in temperatures]
    for name, plot, drawn in (("figure_6", plot_band, tables), ("figure_7", plot_ridges, percentiles)):
        figure, rows = label_rows(names or [f"no run at tau_alpha = {ALPHA}, tau_beta = {BETA}"], 1, 2 * COLUMN, 2.2)
        for row, plotted in zip(rows, drawn, strict=False):
            plot(row[0], plotted)
        write_figure(output.with_name(name), figure, table)


def name_panel(artifact_run: ArtifactRun, run: Run) -> str:
    name = name_data(artifact_run.paper_dataset, without_sigma(artifact_run.dataset))
    return f"{name}, $\\sigma$ = {run.data.settings['sigma']:g}"


def table_by_epoch(run: Run, values: Array) -> pd.DataFrame:
    """A row for each epoch of a run, with the percentiles of its temperatures, (epochs,101)."""
    head = pd.DataFrame({"data": run.data.name, "seed": run.seed, "epoch": np.arange(1, len(values) + 1)})
    return head.join(pd.DataFrame(values, columns=PERCENTILES))


def plot_band(axis: Any, table: pd.DataFrame) -> None:
    """Figure 6: median (line), 5th to 95th percentile (band); dotted, tau_alpha."""
    axis.fill_between(table["epoch"], table["p5"], table["p95"], alpha=0.3, linewidth=0)
    axis.plot(table["epoch"], table["p50"], linewidth=2)
    axis.axhline(ALPHA, color="0.5", linestyle=":", linewidth=1)
    axis.set(xlabel="epoch", ylabel=r"effective temperature $\tau_{ij}$")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def plot_ridges(axis: Any, values: Array) -> None:
    """Figure 7: the distribution at some epochs, one above the other, from its percentiles (epochs,101)."""
    epochs = np.unique(np.linspace(0, len(values) - 1, RIDGES).round().astype(int))
    edges = np.linspace(values.min() - 1e-3, values.max() + 1e-3, 30)
    for level, epoch in enumerate(epochs[::-1]):
        counts, _ = np.histogram(values[epoch], edges)
        axis.stairs(level + 0.9 * counts / counts.max(), edges, baseline=level, fill=True, alpha=0.7)
    axis.axvline(ALPHA, color="0.5", linestyle=":", linewidth=1)
    axis.set(yticks=np.arange(len(epochs)), yticklabels=epochs[::-1] + 1, ylabel="epoch")
    axis.set_xlabel(r"effective temperature $\tau_{ij}$")
