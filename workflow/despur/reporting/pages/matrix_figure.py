"""The methods' matrix as a figure."""

from collections.abc import Container, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from despur.reporting.printed_names import NAMES
from despur.reporting.templates import format_number
from despur.specs.resolution import resolve
from despur.storage.raw_files import is_bundled
from despur.storage.store import Array


def draw_matrix(table: pd.DataFrame, prefix: Path) -> None:
    """One heat map: the color is the rank in a column, the text the value and, where any rank of its column is refuted,
    the ranks that are not. A method near chance has no rank where nothing known is good."""
    from despur.reporting import figures

    spread = partial(table.pivot, index="method", columns="label")
    labels = list(dict.fromkeys(table["label"]))
    worst = table[table["metric"] == "worst_group_accuracy"]
    by_worst = worst.sort_values(["rank", "value"], ascending=[True, False])["method"]
    rank, low, high, value = (
        spread(values=name).loc[by_worst, labels] for name in ("rank", "rank_low", "rank_high", "value")
    )
    figure, (axes,) = figures.create_panels(1, width=2 * figures.COLUMN, height=0.6 + 0.3 * len(rank))
    mesh = figures.draw_heat_map(
        axes, rank, format_entries(value, low, high), cmap="viridis_r", edgecolor="white", lw=0.5
    )
    figure.colorbar(mesh, label="rank (1: best)")
    units = table.drop_duplicates("label").set_index("label")["unit"]
    axes.set_xticks(
        np.arange(len(labels)) + 0.5, [f"{label}\n({units[label]})" for label in labels], rotation=40, ha="right"
    )
    names = name_methods(rank.index, near_chance=set(table.loc[table["near_chance"], "method"]))
    axes.set_yticks(np.arange(len(rank)) + 0.5, names, rotation=0)
    axes.set(xlabel="", ylabel="", title=name_runs(table))
    figures.write_figure(prefix, figure)


def name_methods(methods: Iterable[str], near_chance: Container[str]) -> list[str]:
    """What figures call these methods, and which of them are near chance."""
    return [NAMES[method] + " (near chance)" * (method in near_chance) for method in methods]


def name_runs(table: pd.DataFrame) -> str:
    """``scene_digits, 10 seeds; substitute data``: what the matrix is of."""
    data, seeds = table["data"].iloc[0], int(table["seeds"].max())
    substitute = is_bundled(resolve("datasets", data).points)
    return f"{data}, {seeds} seed{'s' * (seeds > 1)}{'; substitute data' * substitute}"


def format_entries(value: pd.DataFrame, low: pd.DataFrame, high: pd.DataFrame) -> Array:
    """The texts of the figure. A column in which no rank is refuted, as with one seed, shows values only."""
    refuted = (low.nunique() + high.nunique() > 2).to_numpy()
    low = low.where(np.broadcast_to(refuted, low.shape))
    rows = zip(value.to_numpy(), low.to_numpy(), high.to_numpy(), strict=True)
    return np.array([[format_entry(*entry) for entry in zip(*row, strict=True)] for row in rows])


def format_entry(value: float, low: float, high: float) -> str:
    """``71.3`` and below it the ranks that are not refuted, ``2–5``."""
    shown = format_number(value)
    return shown if np.isnan(low) else f"{shown}\n{low:g}–{high:g}"
