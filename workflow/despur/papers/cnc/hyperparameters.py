"""Tables A.7 to A.11: what the paper tried, what it selected, what we take and why, and what our own grids select."""

from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.tables import format_column
from despur.evidence.runs.artifact_metrics import load_metrics, rows_where
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.tables import write_table
from despur.specs.declarations import list_components, paper_hyperparameters, read_declarations
from despur.specs.names import parse
from despur.specs.resolution import resolve
from despur.specs.settings import spell
from despur.specs.spec import Spec, Sweep

REPORTED = Path(__file__).parent / "reported"
SCORES = ["validation_worst_group", "test_worst_group", "test_average"]
GRID_COLUMNS = [
    "dataset", "method", "hyperparameter", "tried", "selected", "place", "ours", "source", "data", "seeds", *SCORES,
]  # fmt: skip
KEYS = {  # the paper's name: the name of our setting
    "contrastive_weight_lambda": "lambda",
    "gradient_accumulation_steps": "accumulation",
    "stage1_epochs": "groups.stage1.epochs",
    "upweighting_factor": "upsampling",
    "environment_inference_lr": "groups.ascent_rate",
    "environment_inference_steps": "groups.steps",
    "irm_penalty_weight": "penalty_weight",
    "irm_penalty_annealing_iterations": "annealing",
    "gdro_group_adjustment": "adjustment",
    "cim_lambda": "lambda",
    "vib_beta": "beta",
}


def write_table_a7_a11(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """The grids of this run first, a row for each method and data set; then the paper's hyper-parameters."""
    rows = [summarize_grids(grid_runs) for grid_runs in group_grids(artifact_runs)]
    table = pd.concat([pd.DataFrame(rows), load_printed_grids()], ignore_index=True).reindex(columns=GRID_COLUMNS)
    write_table(output, table, format_grids(table))


def load_printed_grids() -> pd.DataFrame:
    """A row for each hyper-parameter of the paper: the values that it tried, the one that it states, the one that we
    take."""
    printed = pd.concat([pd.read_csv(REPORTED / f"table_a{i}.csv", dtype={"mean": str}) for i in range(7, 12)])
    printed["hyperparameter"] = printed["setting"].map(lambda text: parse_settings(text)["hyperparameter"])
    keys = ["dataset", "method", "hyperparameter"]
    tried = printed.groupby(keys, sort=False)["mean"].agg("; ".join).rename("tried").reset_index()
    table = tried.merge(pd.read_csv(REPORTED / "table_a7_a11.csv", dtype=str), how="left", on=keys, validate="1:1")
    return table.join(pd.DataFrame([find_our_value(*row) for row in table[keys].itertuples(index=False)]))


def find_our_value(dataset: str, method: str, hyperparameter: str) -> dict[str, str]:
    """Our value on the paper's data set, and where it comes from; CNC's where all methods share it."""
    if dataset not in list_components("datasets"):
        return {"ours": "", "source": f"no {dataset} here"}
    point = resolve("methods", "cnc" if method == "shared" else method, dataset).points[0]
    key = KEYS.get(hyperparameter, hyperparameter)
    if key == "upsampling" and point.value(key) == "constant":
        key = "factor"
    return {"ours": spell(point.value(key)), "source": find_source(point, key, dataset)}


def find_source(spec: Spec, key: str, dataset: str, component: str = "") -> str:
    """Where the value of a setting comes from: the data set's file, or the source that its declaration names.

    ``key`` is dotted for a setting of a component; ``component``: what ``spec`` itself is to its method ("groups")."""
    in_dataset = key.removeprefix("groups.") if key.startswith("groups.stage1.") else key
    if in_dataset in paper_hyperparameters(dataset, spec.base_name, component):
        return f"datasets/{dataset}.py"
    head, _, rest = key.partition(".")
    if rest:
        return find_source(spec.components[head], rest, dataset, head)
    return read_declarations(spec.kind, spec.base_name)["SETTINGS"][key].source


def group_grids(artifact_runs: list[ArtifactRun]) -> list[list[ArtifactRun]]:
    """The runs that vary a setting, those of one method on one data set together."""
    families: dict[tuple[str, str, str], list[ArtifactRun]] = {}
    for artifact_run in artifact_runs:
        if artifact_run.result.sweep.swept:
            family = artifact_run.paper_dataset, artifact_run.paper_method, artifact_run.dataset
            families.setdefault(family, []).append(artifact_run)
    return list(families.values())


def summarize_grids(artifact_runs: list[ArtifactRun]) -> dict[str, Any]:
    """The grids of one method on one data set, the point that they select, and its accuracies in percent."""
    artifact_run, grids = artifact_runs[0], [grid_run.result.sweep for grid_run in artifact_runs]
    metrics = load_metrics(artifact_runs)
    means = average_seeds(metrics)
    chosen = select_point(means["val"])
    return {
        "dataset": artifact_run.paper_dataset,
        "method": artifact_run.paper_method,
        "hyperparameter": " or ".join(", ".join(grid.overrides) for grid in grids),
        "tried": " or ".join(map(describe_levels, grids)),
        "selected": describe_point(chosen, artifact_run.dataset, grids),
        "place": "selected by this run on validation data",
        "data": artifact_run.dataset,
        "seeds": metrics["seed"].nunique(),
        "validation_worst_group": 100 * means["val", "worst_group_accuracy", chosen],
        "test_worst_group": 100 * means["test", "worst_group_accuracy", chosen],
        "test_average": 100 * means["test", "average_accuracy", chosen],
    }


def average_seeds(metrics: pd.DataFrame) -> pd.Series:
    """Means over seeds of what is measured on all groups together, indexed by split, metric and point."""
    best = rows_where(metrics, selection="best", group="")
    return best.groupby(["split", "metric", "method"])["value"].mean()


def select_point(validation: pd.Series) -> str:
    """The point with the best worst group; ties by average accuracy, as the selection within a run, then the first.

    ``validation``: means over seeds on validation data, indexed by metric and point."""
    scores = pd.DataFrame({metric: validation[metric] for metric in ("worst_group_accuracy", "average_accuracy")})
    return str(scores.sort_values(list(scores), ascending=False, kind="stable").index[0])


def describe_levels(grid: Sweep) -> str:
    """The values of each setting that a grid gives: ``0.1; 0.2 x 16; 64``."""
    values = [sorted({point.value(key) for point in grid.points}) for key in grid.overrides]
    return " x ".join("; ".join(map(spell, levels)) for levels in values)


def describe_point(name: str, dataset: str, grids: list[Sweep]) -> str:
    """The values of a point in all settings that the grids give: ``lambda=0.75, temperature=0.1``."""
    (point,) = resolve("methods", name, parse(dataset)[0]).points
    keys = dict.fromkeys(key for grid in grids for key in grid.overrides)
    return ", ".join(f"{key}={spell(point.value(key))}" for key in keys)


def format_grids(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it."""
    display = table.drop(columns=SCORES).fillna("–").astype(str)
    display["seeds"] = format_column(table["seeds"], "{:.0f}")
    display["hyperparameter"] = display["hyperparameter"].str.replace("_", " ")
    for score in SCORES:
        display[score.replace("_", " ")] = format_column(table[score])
    return display.rename(columns={"dataset": "data set", "data": "data used"})
