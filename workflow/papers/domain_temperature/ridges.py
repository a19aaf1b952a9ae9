"""Figures 6 and 7: the distribution of effective temperatures by epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sweep import player
from temperature import ALPHA, BETA, recorded

from despur.experiments import Cell
from despur.figures import COLUMN, data_name, named_rows, write_figure
from despur.store import Array, write_csv

RIDGES = 8  # epochs of Figure 7: at most so many, evenly spaced


def band(axis: Any, table: pd.DataFrame) -> None:
    """Figure 6: median (line), 5th to 95th percentile (band)."""
    axis.fill_between(table["epoch"], table["p5"], table["p95"], alpha=0.3, linewidth=0)
    axis.plot(table["epoch"], table["p50"], linewidth=2)
    axis.axhline(ALPHA, color="0.5", linestyle=":", linewidth=1)
    axis.set(xlabel="epoch", ylabel=r"effective temperature $\tau_{ij}$")
    axis.set_title(r"(6) median and 5-95 %; dotted: $\tau_\alpha$", loc="left")


def ridges(axis: Any, values: Array) -> None:
    """Figure 7: the distribution at some epochs, one above the other, from its percentiles."""
    epochs = np.unique(np.linspace(0, len(values) - 1, RIDGES).round().astype(int))
    edges = np.linspace(values.min() - 1e-3, values.max() + 1e-3, 30)
    for level, epoch in enumerate(epochs[::-1]):
        counts, _ = np.histogram(values[epoch], edges)
        axis.stairs(level + 0.9 * counts / counts.max(), edges, baseline=level, fill=True, alpha=0.7)
    axis.axvline(ALPHA, color="0.5", linestyle=":", linewidth=1)
    axis.set(yticks=np.arange(len(epochs)), yticklabels=epochs[::-1] + 1, ylabel="epoch", xlabel=r"effective temperature $\tau_{ij}$")
    axis.set_title("(7) distribution by epoch", loc="left")


def figure_6_7(cells: list[Cell], output: Path) -> None:
    """The first seed's run; a row for each data set and sigma. Nothing but a note where no run has these temperatures."""
    every = recorded(cells)
    runs = [found for found in every if found[1].seed == min(run.seed for _, run, _ in every)]
    names = [f"{data_name(cell.role, player(cell.dataset))}, $\\sigma$ = {run.data.settings['sigma']:g}" for cell, run, _ in runs]
    figure, axes = named_rows(names or [f"no run at tau_alpha = {ALPHA}, tau_beta = {BETA}"], 2, 2 * COLUMN, 2.2)
    tables = [pd.DataFrame(columns=["data", "seed", "epoch", *(f"p{i}" for i in range(101))])]
    for row, (_, run, values) in zip(axes, runs, strict=False):
        columns = pd.DataFrame(values, columns=[f"p{i}" for i in range(101)])
        table = pd.concat(
            [pd.DataFrame({"data": run.data.name, "seed": run.seed, "epoch": np.arange(1, len(values) + 1)}), columns], axis=1
        )
        band(row[0], table)
        ridges(row[1], values)
        tables.append(table)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(tables[1:] or tables))
