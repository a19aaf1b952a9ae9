"""Figure 4: t-SNE of training representations, by class and by protected attribute."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from sklearn.manifold import TSNE

from despur.compute.randomness import derive_generator
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.reporting.figures import COLUMN, PALETTE, split_by_dataset, start_rows, write_figure
from despur.reporting.printed_names import NAMES
from despur.storage.containers import Container
from despur.storage.store import Array, Dataset, load_dataset

EACH = 100  # samples of each class, as in the paper


def draw_samples(dataset: Dataset, seed: int) -> Array:
    """Rows of at most EACH random training samples of each class, the same for all methods."""
    rows = derive_generator("fair_cl/figure_4", seed).permutation(dataset.rows("train"))
    return np.concatenate([rows[dataset.y[rows] == label][:EACH] for label in range(len(dataset.about["classes"]))])


def embed(z: Array) -> Array:
    """t-SNE with scikit-learn's defaults, (N,D) -> (N,2)."""
    return TSNE(2, perplexity=min(30, len(z) / 4), random_state=0).fit_transform(z.astype(np.float32))


def project(artifact_run: ArtifactRun, method: str) -> pd.DataFrame:
    """The t-SNE map of training samples by the selected model of the first seed."""
    result = artifact_run.result
    run = next(run for run in result.runs() if run.spec.name == method)
    dataset = load_dataset(result.data.folder, run.data.name)
    rows = draw_samples(dataset, run.seed)
    points = embed(Container(result.folder / "outputs.safetensors")[f"{run.key}/best/z"][rows])
    y, a = (dataset.table[name].to_numpy()[rows] for name in ("y", "a"))
    return pd.DataFrame(
        {
            "paper_dataset": artifact_run.paper_dataset,
            "used_dataset": artifact_run.dataset,
            "paper_method": artifact_run.paper_method,
            "data": run.data.name,
            "method": method,
            "seed": run.seed,
            "y": y,
            "a": a,
            "class": np.array(dataset.about["classes"])[y],
            "attribute": np.array(dataset.about["attributes"])[a],
            "x1": points[:, 0],
            "x2": points[:, 1],
        }
    )


def draw_figure_4(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """CE and Con, each by class and by attribute; a row for each data set."""
    metrics, _ = selected_settings.load_selected(artifact_runs)
    picked = metrics.groupby(["paper_dataset", "used_dataset", "paper_method"])["method"].first()
    maps = [
        project(artifact_run, picked[artifact_run.paper_dataset, artifact_run.dataset, artifact_run.paper_method])
        for artifact_run in artifact_runs
    ]
    table = pd.concat(maps, ignore_index=True)
    figure, rows = start_rows(split_by_dataset(table), 4, 2 * COLUMN, 1.9)
    for row, part in rows:
        panels = [
            (method, points, kind)
            for method, points in part.groupby("paper_method", sort=False)
            for kind in ("class", "attribute")
        ]
        for axis, (method, points, kind) in zip(row, panels, strict=False):
            draw(axis, points, kind)
            axis.set_title(f"{NAMES[method]}, by {kind}")
    write_figure(output, figure, table)


def draw(axis: Any, points: pd.DataFrame, kind: str) -> None:
    """A map without scales, since its units mean nothing; samples in random order."""
    names = list(dict.fromkeys(points.sort_values("y" if kind == "class" else "a")[kind]))
    colors = (PALETTE if kind == "class" else PALETTE[2:])[: len(names)]
    mixed = points.sample(frac=1, random_state=0)
    sns.scatterplot(mixed, x="x1", y="x2", hue=kind, hue_order=names, palette=colors, s=6, linewidth=0, ax=axis)
    style = {"ncols": 5, "title": None, "handletextpad": 0, "columnspacing": 0.6, "fontsize": 6}
    sns.move_legend(axis, "upper center", bbox_to_anchor=(0.5, 0), **style)
    axis.set(xticks=[], yticks=[], xlabel="", ylabel="")
