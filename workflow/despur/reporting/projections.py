"""Maps of representations in two dimensions, for the figures of a paper. One job makes all maps, because UMAP takes
long to start."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from despur.compute.randomness import derive_generator
from despur.numerics.umap import project
from despur.orchestration.experiments import ArtifactRun
from despur.specs.paths import ResultPath, Run, locate_result
from despur.storage.containers import Container
from despur.storage.reading import read_parquet, reading
from despur.storage.store import atomic, load_dataset

SAMPLES = 1000  # at most so many samples of a run: more would lie on top of each other


def project_run(result: ResultPath, run: Run) -> pd.DataFrame:
    """Positions of a run's representations of random test samples. For a stage-1 model: of training samples, because
    inferences read those.

    Methods share the samples. ``position``: that of a sample within its split; ``y``, ``a``: numbers of its class and
    attribute."""
    dataset = load_dataset(result.data.folder, run.data.name)
    split, selection = ("train", "last") if result.stage == "stage1" else (dataset.about["headline"], "best")
    rows = dataset.rows(split)
    positions = np.sort(derive_generator("projections", run.seed).permutation(len(rows))[:SAMPLES])
    z = Container(result.folder / "outputs.safetensors")[f"{run.key}/{selection}/z"][rows[positions]]
    points = project(z.astype(np.float32), run.seed)
    about, table = dataset.about, dataset.table.iloc[rows[positions]]
    return pd.DataFrame(
        {
            "folder": str(result.folder),
            "run": run.key,
            "data": run.data.name,
            "seed": run.seed,
            "split": split,
            "position": positions,
            "y": table["y"].to_numpy(),
            "a": table["a"].to_numpy(),
            "class": np.array(about["classes"])[table["y"]],
            "attribute": np.array([*about["attributes"], "not known"])[table["a"]],  # MISSING: the last
            "kind_of_attribute": about["attribute"],
            "x1": points[:, 0],
            "x2": points[:, 1],
        }
    )


def write_projections(artifact_runs: Sequence[ArtifactRun], output: Path) -> None:
    """``output``.parquet: the first seed of each run with representations; of a sweep, its first and last point."""
    parts = []
    for folder in dict.fromkeys(artifact_run.folders[0] for artifact_run in artifact_runs):
        result = locate_result(folder)
        if result.stage != "groups":
            runs = result.runs()
            first = [run for run in runs if run.seed == runs[0].seed]
            ends = {run.key: run for run in (first[0], first[-1])}
            parts += [project_run(result, run) for run in ends.values()]
    with atomic(output.with_suffix(".parquet")) as temporary:
        pd.concat(parts, ignore_index=True).to_parquet(temporary, index=False)


def load_projections(output: Path, artifact_run: ArtifactRun) -> list[pd.DataFrame]:
    """The maps of a run, in the order of its sweep, from the projections beside a figure's ``output``."""
    with reading(output.parent / "projections.parquet") as file:
        points = read_parquet(file)
    mine = points[points["folder"] == artifact_run.folders[0]]
    return [
        part.reset_index(drop=True).assign(
            paper_method=artifact_run.paper_method, paper_dataset=artifact_run.paper_dataset
        )
        for _, part in mine.groupby("run", sort=False)
    ]
