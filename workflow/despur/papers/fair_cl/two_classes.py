"""Table 2: a model of all classes, evaluated on two of them, beside models that were trained on these two only."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics, rows_where, select_test
from despur.evidence.runs.changed_settings import name_run
from despur.evidence.runs.run_files import HERE, load_labels
from despur.metrics import RESAMPLES
from despur.metrics.fairness import leakage, tpr_gap
from despur.metrics.groups import mean
from despur.metrics.resampling import counts
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.measurements import load_measurements
from despur.specs.paths import ResultPath, Run, locate_result
from despur.storage.containers import Container
from despur.storage.finished_runs import list_bootstrap_columns
from despur.storage.store import Array, Dataset, load_dataset

PAIR = "bios_nurse_surgeon"


def measure_classes(
    dataset: Dataset, z: Array, logits: Array, classes: Sequence[str], name: str, resamples: int
) -> dict[tuple[str, str], Array]:
    """Metrics of some classes' test samples, by metric and group, and on as many bootstrap samples of the data set of
    this name, (1+resamples,); predictions are among all classes, attackers are fitted to these."""
    y, a = dataset.y, dataset.table["a"].to_numpy()
    among = np.isin(y, [dataset.about["classes"].index(name) for name in classes])
    train, test = (rows[among[rows]] for rows in (dataset.rows("train"), dataset.rows("test")))
    predicted, weights = logits.argmax(axis=1), counts(name, dataset.table["original"].to_numpy()[test], resamples)
    measured = {
        ("average_accuracy", ""): mean((predicted == y)[test].astype(float), weights),
        ("gap", ""): tpr_gap(predicted[test], y[test], a[test], weights),
        ("leakage_representations", ""): leakage(z[train], a[train], z[test], a[test], weights),
        ("leakage_logits", ""): leakage(logits[train], a[train], logits[test], a[test], weights),
    }
    groups, sizes = np.unique(np.stack([y[test], a[test]], axis=1), axis=0, return_counts=True)
    return measured | {("samples", str(group)): size[None] for group, size in zip(groups.tolist(), sizes, strict=True)}


def measure_run(result: ResultPath, run: Run, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of a run of all classes, on some of them: the ``value``, and the bootstrap values "0", "1", ..."""
    outputs = Container(result.folder / "outputs.safetensors")
    z, logits = (outputs[f"{run.key}/best/{name}"].astype(np.float32) for name in ("z", "logits"))
    dataset = load_dataset(result.data.folder, run.data.name)
    measured = measure_classes(dataset, z, logits, classes, run.data.base_name, RESAMPLES)
    return [
        {"metric": metric, "group": group, "value": float(value)} | {str(i): v for i, v in enumerate(drawn)}
        for (metric, group), (value, *drawn) in measured.items()
    ]


def load_pair(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of the models of two classes, and of CE's model of all classes (``ce_multiclass``) on the two, and
    their bootstrap values."""
    of_two = selected_settings.load_selected([run for run in artifact_runs if run.paper_dataset == PAIR])
    of_all = load_multiclass(list(filter(has_outputs, artifact_runs)))
    metrics, resamples = (pd.concat(tables, ignore_index=True) for tables in zip(of_two, of_all, strict=True))
    return metrics, resamples


def load_claim_metrics(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What claims compare: all measurements, and ``ce_multiclass`` beside the models of two classes."""
    metrics, resamples = load_measurements(artifact_runs)
    of_two = rows_where(metrics, paper_dataset=PAIR)
    here = [run for run in artifact_runs if run.artifact == "table_2" and has_outputs(run)]
    tables = []
    for table, more in zip((metrics, resamples), load_multiclass(here if len(of_two) else []), strict=True):
        more = more.assign(used_dataset=of_two["used_dataset"].iloc[0], artifact="table_2") if len(more) else more
        tables.append(pd.concat([table, more], ignore_index=True))
    return tables[0], tables[1]


def has_outputs(artifact_run: ArtifactRun) -> bool:
    """Whether the outputs of runs are here, not only what records of other machines say of them."""
    return all((Path(folder) / "outputs.safetensors").exists() for folder in artifact_run.folders)


def load_multiclass(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of CE's model of all classes on the two classes (``ce_multiclass``), and their bootstrap values; where
    both were run."""
    of_two = [run for run in artifact_runs if run.paper_dataset == PAIR]
    of_all = [run for run in artifact_runs if (run.paper_dataset, run.paper_method) == ("bios", "ce")]
    if not of_two:
        return pd.DataFrame(), pd.DataFrame()
    classes = load_labels(of_two[0]).about["classes"]
    table = pd.DataFrame([row for run in of_all for row in measure_artifact_run(run, classes)])
    if not (drawn := list_bootstrap_columns(table)):
        return table, pd.DataFrame()
    return table.drop(columns=drawn), table.drop(columns="value").dropna(subset=drawn)


def measure_artifact_run(artifact_run: ArtifactRun, classes: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Rows of all seeds of a model of all classes, on some of them, with the origin and marks of its own rows."""
    own = select_test(load_metrics([artifact_run])).drop(columns=["metric", "group", "value"])
    heads = {(row["data"], row["method"], row["seed"]): row for row in own.to_dict("records")}
    for result in map(locate_result, artifact_run.folders):
        for run in result.runs():
            _, data, method, seed = name_run(artifact_run, run.key)
            if not (own_head := heads.get((data, method, seed))):  # not evaluated, or its evaluation does not count
                continue
            head = own_head | {"paper_dataset": PAIR, "paper_method": "ce_multiclass", "measured": HERE}
            for row in measure_run(result, run, classes):
                yield head | row
