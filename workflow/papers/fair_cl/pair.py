"""Table 2: a model of all classes, evaluated on two of them, beside models that were trained on these two only."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import chosen
import numpy as np
import pandas as pd
from measurements import load_measurements

from despur.metrics.fairness import leakage, tpr_gap
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.run_files import load_labels
from despur.specs.paths import ResultPath, Run, locate_result
from despur.storage.containers import Container
from despur.storage.store import Array, Dataset, load_dataset

PAIR = "bios_nurse_surgeon"


def measure_classes(dataset: Dataset, z: Array, logits: Array, classes: Sequence[str]) -> dict[tuple[str, str], float]:
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
    groups, sizes = np.unique(np.stack([y[test], a[test]], axis=1), axis=0, return_counts=True)
    return found | {("samples", str(group)): float(size) for group, size in zip(groups.tolist(), sizes, strict=True)}


def measure_run(result: ResultPath, run: Run, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a run of all classes, on some of them."""
    outputs = Container(result.folder / "outputs.safetensors")
    z, logits = (outputs[f"{run.key}/best/{name}"].astype(np.float32) for name in ("z", "logits"))
    found = measure_classes(load_dataset(result.data.folder, run.data.name), z, logits, classes)
    return [{"metric": metric, "group": group, "value": value} for (metric, group), value in found.items()]


def load_pair(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of the models of two classes, and of CE's model of all classes (``ce_multiclass``) on the two;
    bootstrap values of the former."""
    metrics, resamples = chosen.load_selected([run for run in artifact_runs if run.paper_dataset == PAIR])
    return pd.concat([metrics, load_multiclass(list(filter(has_outputs, artifact_runs)))], ignore_index=True), resamples


def load_with_multiclass(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What claims compare: all measurements, and ``ce_multiclass`` beside the models of two classes."""
    metrics, resamples = load_measurements(artifact_runs)
    of_two = metrics[metrics["paper_dataset"] == PAIR] if len(metrics) else metrics
    here = [run for run in artifact_runs if run.artifact == "table_2" and has_outputs(run)]
    own = load_multiclass(here) if len(of_two) else of_two
    if len(own):
        own = own.assign(used_dataset=of_two["used_dataset"].iloc[0], artifact="table_2")
    return pd.concat([metrics, own], ignore_index=True), resamples


def has_outputs(artifact_run: ArtifactRun) -> bool:
    """Whether the outputs of runs are here, not only what records of other machines say of them."""
    return all((Path(folder) / "outputs.safetensors").exists() for folder in artifact_run.folders)


def load_multiclass(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics of CE's model of all classes on the two classes (``ce_multiclass``), where both were run."""
    of_two = [run for run in artifact_runs if run.paper_dataset == PAIR]
    of_all = [run for run in artifact_runs if (run.paper_dataset, run.paper_method) == ("bios", "ce")]
    if not of_two:
        return pd.DataFrame()
    classes = load_labels(of_two[0]).about["classes"]
    return pd.DataFrame([row for run in of_all for row in measure_artifact_run(run, classes)])


def measure_artifact_run(artifact_run: ArtifactRun, classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of all seeds of a model of all classes, on some of them."""
    for result in map(locate_result, artifact_run.folders):
        for run in result.runs():
            own = {
                "paper_dataset": PAIR,
                "used_dataset": artifact_run.dataset,
                "paper_method": "ce_multiclass",
                "substitute": artifact_run.substitute,
                "data": run.data.name,
                "method": run.spec.name,
                "seed": run.seed,
                "split": "test",
                "selection": "best",
            }
            for row in measure_run(result, run, classes):
                yield own | row
