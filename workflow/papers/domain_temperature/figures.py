"""Figures of Lewis et al. 2023; of the data in digits.py, of temperatures in ridges.py."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from digits import figure_2, figure_3
from matplotlib.patches import Rectangle
from ridges import figure_6_7
from sweep import FAMILY, PRINTED, as_printed, at, choose, load, selected

from despur.orchestration.experiments import Cell
from despur.reporting.figures import COLORS, COLUMN, NAMES, data_name, named_rows, ordered, write_figure
from despur.reporting.printed import printed_settings
from despur.reporting.tables import main
from despur.storage.store import write_csv

REPORTED = Path(__file__).parent / "reported"
LABELS = {
    "test_ood_accuracy": "Test-OOD accuracy, %",
    "test_id_accuracy": "Test-ID accuracy, %",
    "domain_test_id_accuracy": "D-Test-ID accuracy, %",
    "validation_accuracy": "validation accuracy, %",
}
KINDS = ["none", "linear", "mlp"]
GRIDS = {"domain_weighted_negatives": (3, 4, 5), "domain_weighted_pairs": (6, 7, 8)}
POINT = ["temperature", "weight", "tau_alpha", "tau_beta", "projector_dim"]


def accuracies(runs: pd.DataFrame, fraction: float) -> pd.DataFrame:
    """The paper's accuracies at a share of labels, percent: a row for each run and accuracy (domain accuracy has no
    share)."""
    table = as_printed(runs)
    rows = table[
        table["metric"].isin(PRINTED)
        & ((table["label_fraction"] == fraction) | (table["metric"] == "domain_test_id_accuracy"))
    ]
    return rows.assign(accuracy=100 * rows["value"])


def rows_of(table: pd.DataFrame) -> list[tuple[str, pd.DataFrame]]:
    """The rows of each data set that plays the part, with its name."""
    return [(data_name(*key), part) for key, part in table.groupby(["role", "played"], sort=False)]


def figure_1(cells: list[Cell], output: Path) -> None:
    """Test-OOD, Test-ID and domain accuracy over sigma, settings selected at each sigma; 1 % of the labels."""
    runs = load(cells)
    table = accuracies(selected(runs, choose(runs)), 0.01)
    figure, axes = named_rows([name for name, _ in rows_of(table)], 3, 2 * COLUMN, 2.2)
    for row, (_, part) in zip(axes, rows_of(table), strict=True):
        for axis, metric in zip(row, list(PRINTED)[:3], strict=True):
            for method in ordered(part["printed"]):
                mine = at(part, metric=metric, printed=method)
                mean = mine.groupby("sigma")["accuracy"].mean()
                axis.plot(mean.index, mean, marker="o", color=COLORS[method], label=NAMES[method])
                axis.scatter(mine["sigma"], mine["accuracy"], color=COLORS[method], s=5, alpha=0.6, linewidths=0)
            axis.axhline(50, color="0.6", linestyle=":", linewidth=1, zorder=0)
            axis.set(xlabel=r"$\sigma$", ylabel=LABELS[metric], xticks=sorted(part["sigma"].unique()), ylim=(None, 102))
        row[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5))
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table[[*FAMILY, "method", "seed", "metric", "accuracy"]])


def figure_4(cells: list[Cell], output: Path) -> None:
    """Every setting of every method as a point (mean over seeds), the selected in red; sigma = 50, 1 % of the
    labels."""
    runs = at(load(cells), sigma=50.0)
    chosen = choose(runs)
    keys = [*FAMILY, "method", "metric"]
    table = accuracies(runs, 0.01).groupby(keys, sort=False)["accuracy"].mean().reset_index()
    picked = pd.MultiIndex.from_frame(table[[*FAMILY, "method"]]).isin(
        pd.MultiIndex.from_frame(chosen[[*FAMILY, "method"]])
    )
    table = table.assign(selected=picked)
    figure, axes = named_rows([name for name, _ in rows_of(table)], 2, 2 * COLUMN, 2.6, sharey=True)
    for row, (_, part) in zip(axes, rows_of(table), strict=True):
        order = ordered(part["printed"])
        for axis, metric in zip(row, list(PRINTED)[:2], strict=True):
            mine = at(part, metric=metric)
            for kind, color, size in ((False, "0.6", 3.0), (True, "red", 4.0)):
                own = mine[mine["selected"] == kind]
                sns.swarmplot(
                    own, x="accuracy", y="printed", order=order, color=color, size=size, ax=axis, warn_thresh=1
                )
            means = mine.groupby("printed")["accuracy"].mean().reindex(order)
            axis.scatter(means, range(len(order)), marker="|", s=200, color="black", linewidths=1, zorder=3)
            axis.set(xlabel=LABELS[metric], ylabel="", yticks=range(len(order)), yticklabels=[NAMES[m] for m in order])
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def figure_5(cells: list[Cell], output: Path) -> None:
    """Standard CL with and without a projector: a point for each temperature (mean over seeds); sigma = 25, 10 % of
    the labels."""
    runs = at(load(cells), sigma=25.0, printed="standard_cl")
    table = (
        accuracies(runs, 0.1)
        .groupby([*FAMILY, *POINT, "metric"], sort=False, dropna=False)["accuracy"]
        .mean()
        .reset_index()
    )
    pairs = list(zip(table["projector"], table["projector_dim"], strict=True))
    table["head"] = [kind if kind == "none" else f"{kind}, {dim:g}" for kind, dim in pairs]
    order = list(
        dict.fromkeys(
            table["head"][i] for i in sorted(table.index, key=lambda i: (KINDS.index(pairs[i][0]), pairs[i][1]))
        )
    )
    figure, axes = named_rows([name for name, _ in rows_of(table)] or [""], 3, 2 * COLUMN, 2.2)
    for row, (_, part) in zip(axes, rows_of(table), strict=False):
        for axis, letter, metric in zip(
            row, "abc", ("test_id_accuracy", "test_ood_accuracy", "domain_test_id_accuracy"), strict=True
        ):
            mine = at(part, metric=metric)
            sns.stripplot(mine, x="head", y="accuracy", order=order, color="0.4", size=4, ax=axis)
            sns.pointplot(
                mine,
                x="head",
                y="accuracy",
                order=order,
                color="black",
                errorbar=None,
                linestyle="none",
                marker="_",
                markersize=16,
                ax=axis,
            )
            axis.set(xlabel="projector (kind, dimensions)", ylabel=LABELS[metric])
            axis.tick_params(axis="x", rotation=45)
            axis.set_title(f"({letter})", loc="left")
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), table)


def heat_map(axis: Any, table: pd.DataFrame, metric: str) -> None:
    """Accuracy over tau_alpha (down) and tau_beta (right), the selected cell framed."""
    wide = table.pivot_table(index="tau_alpha", columns="tau_beta", values="accuracy")
    sns.heatmap(
        wide, annot=True, fmt=".0f", annot_kws={"size": 5.5}, cmap="viridis", vmin=50, vmax=100, cbar=False, ax=axis
    )
    for text in axis.texts:  # hundreds: the layout need not measure what lies within the axes
        text.set_in_layout(False)
    for own in table[table["selected"]][["tau_alpha", "tau_beta"]].drop_duplicates().itertuples():
        corner = wide.columns.get_loc(own.tau_beta), wide.index.get_loc(own.tau_alpha)
        axis.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="red", linewidth=1.8, clip_on=False, zorder=5))
    axis.set(xlabel=r"$\tau_\beta$", ylabel=r"$\tau_\alpha$")
    axis.set_xticklabels([f"{level:g}" for level in wide.columns])
    axis.set_yticklabels([f"{level:g}" for level in wide.index], rotation=0)
    axis.set_title(LABELS[metric])


def printed_grids(method: str) -> pd.DataFrame:
    """The numbers of the paper's three tables of a method, percent."""
    table = pd.concat([pd.read_csv(REPORTED / f"table_{number}.csv") for number in GRIDS[method]], ignore_index=True)
    result = pd.DataFrame([printed_settings(text) for text in table["setting"]])[["tau_alpha", "tau_beta"]].astype(
        float
    )
    chosen = table["note"].fillna("").str.startswith("selected")
    return result.assign(
        source="printed", printed=method, metric=table["metric"], accuracy=100 * table["mean"], selected=chosen
    )


def figure_grids(cells: list[Cell], output: Path) -> None:
    """Heat maps of Tables 3 to 8: printed, and of this run; sigma = 50, 1 % of the labels."""
    runs = at(load(cells), sigma=50.0)
    chosen = pd.MultiIndex.from_frame(choose(runs)[[*FAMILY, "method"]])
    found = []
    for method in ordered(runs["printed"]):
        found.append((f"{NAMES[method]}: printed", printed_grids(method)))
        for name, part in rows_of(accuracies(at(runs, printed=method), 0.01)):
            means = (
                part.groupby([*FAMILY, "method", "tau_alpha", "tau_beta", "metric"], sort=False)["accuracy"]
                .mean()
                .reset_index()
            )
            picked = pd.MultiIndex.from_frame(means[[*FAMILY, "method"]]).isin(chosen)
            found.append((f"{NAMES[method]}: {name}", means.assign(source="this run", selected=picked)))
    heights = [0.9 + 0.14 * part["tau_alpha"].nunique() for _, part in found]
    figure, axes = named_rows([name for name, _ in found], 3, 2 * COLUMN, float(np.mean(heights)) + 0.2)
    for row, (_, part) in zip(axes, found, strict=True):
        for axis, metric in zip(row, ("validation_accuracy", "test_ood_accuracy", "test_id_accuracy"), strict=True):
            heat_map(axis, at(part, metric=metric), metric)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat([part for _, part in found]))


if __name__ == "__main__":
    main({"figure_1": figure_1, "figure_2": figure_2, "figure_3": figure_3, "figure_4": figure_4, "figure_5": figure_5,
          "figure_6_7": figure_6_7, "figure_grids": figure_grids})  # fmt: skip
