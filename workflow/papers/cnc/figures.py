"""Figures of Correct-N-Contrast."""

from pathlib import Path

import numpy as np
import pandas as pd
import seaborn as sns
from grad_cam import figure_1, per_group

from despur.experiments import Cell
from despur.figures import COLORS, COLUMN, NAMES, panels, write_figure
from despur.paths import locate
from despur.store import Array, Container, Dataset, load_dataset, write_csv
from despur.tables import headline, load_metrics, main


def figure_5(cells: list[Cell], output: Path) -> None:
    """Alignment loss, mutual information with class and attribute, and per-class gap, by method."""
    test = headline(load_metrics(cells))
    overall = test[test["group"] == ""]
    gap = _class_gaps(test)
    shown = {"alignment loss": "alignment_loss", "I(Y;Z), nats": "mutual_information_class", "I(A;Z), nats": "mutual_information_attribute"}
    values = pd.concat([*(overall[overall["metric"] == m].assign(panel=p) for p, m in shown.items()), gap.assign(panel="per-class gap, %")])
    figure, axes = panels(4, 2 * COLUMN, 1.9)
    order = [m for m in NAMES if m in set(values["printed"])]
    for axis, (panel, part) in zip(axes, values.groupby("panel", sort=False), strict=True):
        sns.barplot(
            part,
            x="printed",
            y="value",
            order=order,
            hue="printed",
            palette=COLORS,
            errorbar="sd",
            legend=False,
            ax=axis,
            err_kws={"linewidth": 1},
        )
        sns.stripplot(part, x="printed", y="value", order=order, color="0.2", size=2.5, ax=axis)
        axis.set(title=panel, xlabel="", ylabel="")
        axis.set_xticks(range(len(order)), [NAMES[m] for m in order])
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), values[["panel", "role", "data", "printed", "seed", "value"]])


def _class_gaps(test: pd.DataFrame) -> pd.DataFrame:
    """Mean over classes of average minus worst-group accuracy, in percent, a row for each run (Fig. 5d)."""
    keys = ["role", "data", "printed", "seed", "group"]
    parts = [test[test["metric"] == f"class_{kind}_accuracy"].set_index(keys)["value"] for kind in ("average", "worst_group")]
    return (100 * (parts[0] - parts[1])).groupby(keys[:-1]).mean().rename("value").reset_index()


def figure_11(cells: list[Cell], output: Path) -> None:
    """UMAP of the first seed's test representations, by class and by attribute, for each method."""
    figure, axes = panels(2 * len(cells), 2 * COLUMN, 1.6)
    drawn = []
    for i, cell in enumerate(cells):
        dataset, z = _test_representations(cell)
        points = _umap(z)
        test = dataset.table.iloc[dataset.rows(dataset.about["headline"])]
        drawn.append(test[["y", "a"]].assign(printed=cell.printed, data=cell.dataset, x=points[:, 0], y_axis=points[:, 1]))
        for axis, column in zip(axes[2 * i : 2 * i + 2], ("y", "a"), strict=True):
            labels = dataset.table[column].to_numpy()[dataset.rows(dataset.about["headline"])]
            axis.scatter(*points.T, c=labels, cmap="tab10", vmax=9, s=0.5, linewidths=0, rasterized=True)
            axis.set(xticks=[], yticks=[], title=f"{NAMES[cell.printed]}\nby {'class' if column == 'y' else dataset.about['attribute']}")
            sns.despine(ax=axis, left=True, bottom=True)
    write_figure(output, figure)
    write_csv(output.with_suffix(".csv"), pd.concat(drawn))


def _umap(z: Array) -> Array:
    from umap import UMAP

    return UMAP(random_state=0, n_jobs=1).fit_transform(z)


def _test_representations(cell: Cell) -> tuple[Dataset, Array]:
    """Data set and test representations of a cell's first run."""
    place = locate(cell.folders[0])
    run = place.runs()[0]
    dataset = load_dataset(place.data.folder, run.data.name)
    rows = dataset.rows(dataset.about["headline"])
    z = Container(place.folder / "outputs.safetensors")[f"{run.key}/best/z"][rows]
    return dataset, z.astype(np.float32)


if __name__ == "__main__":
    main({"figure_1": figure_1, "figure_5": figure_5, "figure_11": figure_11, "figure_12": per_group, "figure_13": per_group})
