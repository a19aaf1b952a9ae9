"""Table 2: a model of all classes, evaluated on two of them, beside models that were trained on these two only."""

from collections.abc import Sequence
from typing import Any

import chosen
import numpy as np
import pandas as pd

from despur.metrics.fairness import leakage, tpr_gap
from despur.orchestration.experiments import ArtifactRun
from despur.specs.paths import ResultPath, Run, locate
from despur.storage.containers import Container
from despur.storage.store import Array, Dataset, load_dataset


def dataset_of(artifact_run: ArtifactRun) -> Dataset:
    """The data set of the first run."""
    result = locate(artifact_run.folders[0])
    return load_dataset(result.data.folder, result.runs()[0].data.name)


def on_classes(dataset: Dataset, z: Array, logits: Array, classes: Sequence[str]) -> dict[tuple[str, str], float]:
    """Metrics of some classes' test samples, by metric and group; predictions are among all classes, attackers are
    fitted to these."""
    y, a = dataset.y, dataset.table["a"].to_numpy()
    among = np.isin(y, [dataset.about["classes"].index(name) for name in classes])
    train, test = (rows[among[rows]] for rows in (dataset.rows("train"), dataset.rows("test")))
    predicted = logits.argmax(axis=1)
    found = {
        ("average_accuracy", ""): float((predicted == y)[test].mean()),
        ("gap", ""): float(tpr_gap(predicted[test], y[test], a[test])),
        ("leakage_representations", ""): float(leakage(z[train], a[train], z[test], a[test])),
        ("leakage_logits", ""): float(leakage(logits[train], a[train], logits[test], a[test])),
    }
    cells, sizes = np.unique(np.stack([y[test], a[test]], axis=1), axis=0, return_counts=True)
    return found | {("samples", str(cell)): float(size) for cell, size in zip(cells.tolist(), sizes, strict=True)}


def measured(result: ResultPath, run: Run, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a run of all classes, on some of them."""
    outputs = Container(result.folder / "outputs.safetensors")
    z, logits = (outputs[f"{run.key}/best/{name}"].astype(np.float32) for name in ("z", "logits"))
    found = on_classes(load_dataset(result.data.folder, run.data.name), z, logits, classes)
    return [{"metric": metric, "group": group, "value": value} for (metric, group), value in found.items()]


def of_the_pair(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of the models of two classes, and of CE's model of all classes (``ce_multiclass``) on the two;
    bootstrap values of the former."""
    of_two = [artifact_run for artifact_run in artifact_runs if artifact_run.paper_dataset == "bios_nurse_surgeon"]
    metrics, resamples = chosen.load(of_two)
    return pd.concat([metrics, of_all_classes(artifact_runs)], ignore_index=True), resamples


def for_claims(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The metrics and bootstrap values that claims use: of the selected settings, and of CE's model of all classes on
    the two classes (``ce_of_all_classes``)."""
    metrics, resamples = chosen.load(artifact_runs)
    of_two = metrics[metrics["paper_dataset"] == "bios_nurse_surgeon"] if len(metrics) else metrics
    own = of_all_classes([run for run in artifact_runs if run.artifact == "table_2"]) if len(of_two) else pd.DataFrame()
    if len(own):
        used = of_two["used_dataset"].iloc[0]
        own = own.assign(paper_method="ce_of_all_classes", used_dataset=used, artifact="table_2")
    return pd.concat([metrics, own], ignore_index=True), resamples


def of_all_classes(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics of CE's model of all classes (``ce_multiclass``) on the two classes, where both were run."""
    of_two = [artifact_run for artifact_run in artifact_runs if artifact_run.paper_dataset == "bios_nurse_surgeon"]
    if not of_two:
        return pd.DataFrame()
    classes, rows = dataset_of(of_two[0]).about["classes"], []
    for artifact_run in artifact_runs:
        if (artifact_run.paper_dataset, artifact_run.paper_method) != ("bios", "ce"):
            continue
        for result in map(locate, artifact_run.folders):
            for run in result.runs():
                own = {
                    "paper_dataset": "bios_nurse_surgeon",
                    "used_dataset": artifact_run.dataset,
                    "paper_method": "ce_multiclass",
                    "substitute": artifact_run.substitute,
                    "data": run.data.name,
                    "method": run.spec.name,
                    "seed": run.seed,
                    "split": "test",
                    "selection": "best",
                }
                rows += [own | row for row in measured(result, run, classes)]
    return pd.DataFrame(rows)
