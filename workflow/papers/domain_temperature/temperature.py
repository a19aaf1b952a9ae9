"""Figures 6 and 7: the effective temperatures of Domain-Weighted Pairs, epoch by epoch."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sweep import player, settings

from despur.experiments import Cell
from despur.figures import COLUMN, data_name, named_rows, write_figure
from despur.paths import Run, locate
from despur.store import Array, Container, write_csv

ALPHA, BETA = 0.125, 0.1  # App. H
RIDGES = 8  # epochs of Figure 7: at most so many, evenly spaced


def recorded(cells: Sequence[Cell]) -> list[tuple[Cell, Run, Array]]:
    """Each run at these temperatures, with the percentiles 0 to 100 of its temperatures at each epoch's end, (epochs,101)."""
    found = []
    for cell in cells:
        for place in map(locate, cell.folders):
            for run in place.runs():
                own = run.spec.settings
                if (cell.printed, own.get("tau_alpha"), own.get("tau_beta")) == ("domain_weighted_pairs", ALPHA, BETA):
                    values = Container(place.folder / "outputs.safetensors")[f"{run.key}/diagnostics/temperature"]
                    found.append((cell, run, values))
    return found


def convergence(cells: Sequence[Cell]) -> pd.DataFrame:
    """How far temperatures are from tau_alpha in the first and in the last epoch: mean distance of the 5th to the 95th percentile, as
    metric ``distance_from_tau_alpha`` of group "first" and "last"."""
    rows = []
    for cell, run, values in recorded(cells):
        distance = np.abs(values[:, 5:96] - ALPHA).mean(axis=1)
        head = {
            "role": cell.role,
            "played": player(cell.dataset),
            "printed": cell.printed,
            "seed": run.seed,
            "split": "train",
            "selection": "best",
        }
        about = settings(run.data.name, run.spec.name) | {"metric": "distance_from_tau_alpha"}
        rows += [head | about | {"group": group, "value": float(distance[i])} for group, i in (("first", 0), ("last", -1))]
    return pd.DataFrame(rows)


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
    edges = np.linspace(values.min() - 1e-3, values.max() + 1e-3, 60)
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
