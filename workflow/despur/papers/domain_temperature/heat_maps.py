"""Tables 3 to 8 as heat maps: printed, and of this run."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.runs.artifact_metrics import rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.accuracy_figures import LABELS, average_seeds, load_accuracies
from despur.papers.domain_temperature.selection import is_selected, load_runs, select_settings
from despur.papers.domain_temperature.temperature_grids import GRID, TABLES, load_reported
from despur.reporting.figures import COLUMN, draw_heat_map, order_methods, split_by_dataset, start_rows, write_figure
from despur.reporting.printed_names import NAMES


def draw_figure_grids(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Heat maps of Tables 3 to 8: printed, and of this run; sigma = 50, 1 % of the labels."""
    runs = rows_where(load_runs(artifact_runs), sigma=50.0)
    selected = select_settings(runs)
    grids = []
    for method in order_methods(runs["paper_method"]):
        grids.append((f"{NAMES[method]}: printed", load_printed_grids(method)))
        for name, part in split_by_dataset(load_accuracies(rows_where(runs, paper_method=method), 0.01)):
            means = average_seeds(part, ["method", *GRID])
            means = means.assign(source="this run", selected=is_selected(means, selected))
            grids.append((f"{NAMES[method]}: {name}", means))
    heights = [0.9 + 0.14 * part["tau_alpha"].nunique() for _, part in grids]
    figure, rows = start_rows(grids, 3, 2 * COLUMN, float(np.mean(heights)) + 0.2)
    for row, part in rows:
        for axis, metric in zip(row, ("validation_accuracy", "test_ood_accuracy", "test_id_accuracy"), strict=True):
            plot_heat_map(axis, rows_where(part, metric=metric), LABELS[metric])
    write_figure(output, figure, pd.concat([part for _, part in grids]))


def load_printed_grids(method: str) -> pd.DataFrame:
    """The numbers of the paper's three tables of a method, percent."""
    table = pd.concat([load_reported(f"table_{number}") for number in TABLES[method]], ignore_index=True)
    settings = pd.DataFrame([parse_settings(text) for text in table["setting"]])[GRID].astype(float)
    numbers = settings.assign(source="printed", paper_method=method, metric=table["metric"], accuracy=table["mean"])
    return numbers.assign(selected=table["note"].fillna("").str.startswith("selected"))


def plot_heat_map(axis: Any, table: pd.DataFrame, title: str) -> None:
    """Accuracy over tau_alpha (down) and tau_beta (right), the selected pair framed."""
    wide = table.pivot_table(index="tau_alpha", columns="tau_beta", values="accuracy")
    right, down = ([f"{level:g}" for level in levels] for levels in (wide.columns, wide.index))
    texts = np.where(wide.notna(), np.vectorize("{:.0f}".format)(wide), "")
    draw_heat_map(axis, wide.set_axis(right, axis=1).set_axis(down), texts, cmap="viridis", vmin=50, vmax=100)
    for pair in table[table["selected"]][GRID].drop_duplicates().itertuples():
        corner = wide.columns.get_loc(pair.tau_beta), wide.index.get_loc(pair.tau_alpha)
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="red", linewidth=1.8, clip_on=False, zorder=5))
    axis.set(xlabel=r"$\tau_\beta$", ylabel=r"$\tau_\alpha$")
    axis.set_title(title)
