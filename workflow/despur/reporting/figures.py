"""One style for all figures, and how they are written."""

import re
import zlib
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from despur.orchestration.experiments import is_substitute
from despur.reporting.printed_names import DATA, NAMES
from despur.storage.store import Array, atomic, write_csv

COLUMN = 3.4  # inches: width of a column in print
PALETTE = sns.color_palette("colorblind", 10)


class Colors(dict[str, Any]):
    """A method has the same color in every figure; of NAMES, any ten neighbors have colors of their own."""

    def __missing__(self, method: str) -> Any:
        return PALETTE[zlib.crc32(method.encode()) % len(PALETTE)]


COLORS = Colors(zip(NAMES, cycle(PALETTE)))


def create_panels(count: int, width: float, height: float, **keywords: Any) -> tuple[Figure, Any]:
    """A row of panels in the style of despur. ``width`` and ``height`` are those of the figure, in inches."""
    figure, rows = label_rows([""], count, width, height, **keywords)
    return figure, rows[0]


def create_grid(rows: int, columns: int, width: float, height: float, **keywords: Any) -> tuple[Figure, Any]:
    """Aligned panels (rows, columns) in the style of despur. ``width`` of the figure and ``height`` of a row, in
    inches."""
    set_style()
    return plt.subplots(rows, columns, figsize=(width, height * rows), layout="constrained", squeeze=False, **keywords)


def label_rows(
    names: Sequence[str], columns: int, width: float, height: float, **keywords: Any
) -> tuple[Figure, list[Any]]:
    """Rows of panels in the style of despur, each with its name above. ``width`` of the figure and ``height`` of a row,
    in inches."""
    set_style()
    figure = plt.figure(figsize=(width, height * len(names)), layout="constrained")
    rows = figure.subfigures(len(names), 1, squeeze=False)[:, 0]
    for row, name in zip(rows, names, strict=True):
        if name:
            row.suptitle(name, weight="bold")
    return figure, [row.subplots(1, columns, squeeze=False, **keywords)[0] for row in rows]


def start_rows(
    parts: Sequence[tuple[str, pd.DataFrame]], columns: int, width: float, height: float, **keywords: Any
) -> tuple[Figure, list[tuple[Any, pd.DataFrame]]]:
    """A figure with a row for each named part of a table: its panels, and the part. The rest as :func:`label_rows`."""
    figure, rows = label_rows([name for name, _ in parts], columns, width, height, **keywords)
    return figure, [(row, part) for row, (_, part) in zip(rows, parts, strict=True)]


def set_style() -> None:
    """The style of despur, for figures drawn from now on."""
    sns.set_theme(
        context="paper",
        style="ticks",
        font_scale=0.9,
        rc={
            "axes.spines.top": False,
            "axes.spines.right": False,
            "savefig.dpi": 200,
            "pdf.fonttype": 42,
            "font.family": "DejaVu Sans",
            "axes.titlesize": 8,
            "axes.labelsize": 8,
            "xtick.labelsize": 7,
            "ytick.labelsize": 7,
            "legend.frameon": False,
            "legend.fontsize": 7,
            "legend.title_fontsize": 7,
            "figure.titlesize": 9,
            "lines.linewidth": 1.2,
            "lines.markersize": 4,
        },
    )


def name_data(paper_dataset: str, used_dataset: str) -> str:
    """A paper's data set, with its substitute if there is one (without the settings that it sweeps: the figure shows
    them)."""
    name = DATA.get(paper_dataset, paper_dataset)
    short_name = re.sub(r"\+[^+]*~[^+]*", "", used_dataset)
    return f"{name}, substitute: {short_name}" if is_substitute(paper_dataset, used_dataset) else name


def split_by_dataset(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each data set that is used, with its name."""
    return [(name_data(*key), part) for key, part in table.groupby(["paper_dataset", "used_dataset"], sort=False)]


def order_methods(methods: Any) -> list[str]:
    """Methods in the order of NAMES, then those that have no name there, sorted."""
    present = set(methods)
    return [*(method for method in NAMES if method in present), *sorted(present - NAMES.keys())]


def limit_percent(axis: Any, lowest: float | None = None) -> None:
    """An axis of a share in percent ends at 100; markers on its edge are drawn whole, intervals are cut."""
    axis.set_ylim(lowest, 100)
    for artist in (*(line for line in axis.lines if line.get_marker() != "None"), *axis.collections):
        artist.set_clip_on(False)


def plot_bars(
    axis: Any, table: pd.DataFrame, methods: list[str], size: float = 2.5, x: str = "paper_method", y: str = "value"
) -> None:
    """A bar for each method: mean and standard deviation over seeds, each seed a dot of this size."""
    place = {"x": x, "y": y, "order": methods, "ax": axis}
    spread = {"errorbar": "sd", "err_kws": {"linewidth": 1}}
    sns.barplot(table, hue="paper_method", palette=COLORS, legend=False, **spread, **place)
    sns.stripplot(table, color="0.2", size=size, jitter=False, **place)  # jitter is random


def draw_heat_map(axis: Any, table: pd.DataFrame, texts: Array, **style: Any) -> Any:
    """Cells of a table from the top, each with its text; one without a value has no color. ``style``: of the mesh,
    which is returned. (seaborn draws the whole figure for each of its heat maps.)"""
    mesh = axis.pcolormesh(table.to_numpy(), **style)
    axis.set(ylim=(len(table), 0))
    for (row, column), value in np.ndenumerate(table):
        if texts[row, column]:
            light = np.isnan(value) or mesh.to_rgba(value)[:3] @ np.array([0.3, 0.6, 0.1]) > 0.5
            place = {"ha": "center", "va": "center", "size": 5.5, "color": "0.15" if light else "white"}
            text = axis.text(column + 0.5, row + 0.5, texts[row, column], **place)
            text.set_in_layout(False)  # hundreds: the layout need not measure what lies within the axes
    axis.set_xticks(np.arange(table.shape[1]) + 0.5, table.columns)
    axis.set_yticks(np.arange(len(table)) + 0.5, table.index)
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    return mesh


def write_figure(prefix: Path, figure: Figure, table: pd.DataFrame | None = None) -> None:
    """``prefix``.png and .pdf, each atomically; no dates in them, so that equal figures are equal files. Both have the
    layout of the first. Beside them .csv: the table of what they show."""
    for suffix, metadata in ((".png", {"Software": None}), (".pdf", {"CreationDate": None})):
        with atomic(prefix.with_suffix(suffix)) as temporary:
            figure.savefig(temporary, metadata=metadata)
        figure.set_layout_engine("none")  # to find it takes longer than to draw
    plt.close(figure)
    if table is not None:
        write_csv(prefix.with_suffix(".csv"), table)
