"""The choice of App. E.2.3, which the paper does not print: by which clustering of stage 1's representations CNC has
the best worst group on validation data after stage 2. True attributes of training samples are not read."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.tables import format_column, name_columns
from despur.evidence.runs.artifact_metrics import load_metrics
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.papers.cnc.hyperparameters import average_seeds, group_grids, select_point
from despur.reporting.tables import write_table
from despur.specs.names import parse
from despur.specs.resolution import resolve
from despur.specs.settings import spell

PAPER, METHOD = Path(__file__).parent.name, "cnc_clustering"
SETTINGS = ("groups.algorithm", "groups.metric")
ACCURACIES = {
    ("val", "worst_group_accuracy"): "validation_worst_group",
    ("val", "average_accuracy"): "validation_average",
    ("test", "worst_group_accuracy"): "test_worst_group",
    ("test", "average_accuracy"): "test_average",
}
CLUSTERING_COLUMNS = ["paper_dataset", "data", *SETTINGS, "default", "seeds", *ACCURACIES.values(), "verdict"]


def write_table_clustering(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """A row for each clustering, with its mean accuracies in percent; the selected one is marked."""
    rows = [row for grid_runs in group_grids(artifact_runs) for row in compare_clusterings(grid_runs)]
    table = pd.DataFrame(rows or list_clusterings_not_run()).reindex(columns=CLUSTERING_COLUMNS)
    write_table(output, table, format_clusterings(table))


def compare_clusterings(artifact_runs: list[ArtifactRun]) -> Iterator[dict[str, Any]]:
    """The clusterings of one data set, and which of them validation data selects."""
    artifact_run, metrics = artifact_runs[0], load_metrics(artifact_runs)
    means = average_seeds(metrics)
    selected = select_point(means["val"])
    for method in means["val", "worst_group_accuracy"].index:
        accuracies = {name: 100 * means[(*key, method)] for key, name in ACCURACIES.items()}
        yield {
            "paper_dataset": artifact_run.paper_dataset,
            "data": artifact_run.dataset,
            **describe_clustering(method, artifact_run.dataset),
            "seeds": metrics["seed"].nunique(),
            **accuracies,
            "verdict": "selected" if method == selected else "not selected",
        }


def describe_clustering(method: str, dataset: str) -> dict[str, str]:
    """The settings of a clustering, and whether they are those that CNC has on a data set unless told otherwise."""
    base = parse(dataset)[0]
    (point,), (default,) = (resolve("methods", name, base).points for name in (method, "cnc"))
    same = all(point.value(key) == default.value(key) for key in SETTINGS)
    return {**{key: spell(point.value(key)) for key in SETTINGS}, "default": "yes" if same else "no"}


def list_clusterings_not_run() -> list[dict[str, Any]]:
    """A row for each clustering that the paper's folder lists, without numbers."""
    experiments = load_experiments(PAPER)
    return [
        {
            "paper_dataset": dataset,
            **describe_clustering(point.name, dataset),
            "seeds": 0,
            "verdict": NumberVerdict.NOT_RUN,
        }
        for dataset in experiments["artifacts"]["table_clustering"]["datasets"]
        for point in resolve("methods", experiments["methods"][METHOD], dataset).points
    ]


def format_clusterings(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it."""
    accuracies = {name: format_column(table[name]) for name in ACCURACIES.values()}
    display = name_columns(table.assign(**accuracies).fillna({"data": "–"}))
    return display.rename(columns=lambda column: column.removeprefix("groups."))
