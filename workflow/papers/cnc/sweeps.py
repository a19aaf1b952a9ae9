"""Tables A.7 to A.11: what the paper tried, what it selected, what we take and why, and what our own sweep selects."""

from itertools import repeat
from pathlib import Path
from typing import Any

import pandas as pd

from despur.orchestration.experiments import Cell
from despur.reporting.printed import printed_settings
from despur.reporting.tables import load_metrics
from despur.specs.declarations import declared, list_components, paper_hyperparameters
from despur.specs.names import parse
from despur.specs.paths import locate
from despur.specs.resolution import resolve
from despur.specs.settings import spell
from despur.specs.spec import Spec, Sweep

COLUMNS = [
    "dataset",
    "method",
    "hyperparameter",
    "tried",
    "selected",
    "place",
    "ours",
    "source",
    "data",
    "seeds",
    "validation_worst_group",
    "test_worst_group",
    "test_average",
]
KEYS = {  # the settings of ours behind the paper's words
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


def tried(reported: Path) -> pd.DataFrame:
    """A row for each swept hyper-parameter: the values that the paper tried, the one that it states, the one that we
    take."""
    printed = pd.concat([pd.read_csv(reported / f"table_a{i}.csv", dtype={"mean": str}) for i in range(7, 12)])
    printed["hyperparameter"] = printed["setting"].map(lambda text: printed_settings(text)["hyperparameter"])
    keys = ["dataset", "method", "hyperparameter"]
    values = printed.groupby(keys, sort=False)["mean"].agg("; ".join).rename("tried").reset_index()
    table = values.merge(pd.read_csv(reported / "table_a7_a11.csv", dtype=str), how="left", on=keys, validate="1:1")
    return pd.concat([table, pd.DataFrame([taken(*row) for row in table[keys].itertuples(index=False)])], axis=1)


def taken(dataset: str, method: str, hyperparameter: str) -> dict[str, str]:
    """Our value on the paper's data set, and where it comes from; of CNC for those that all methods share."""
    if dataset not in list_components("datasets"):
        return {"ours": "", "source": f"no {dataset} here"}
    point = resolve("methods", "cnc" if method == "shared" else method, dataset).points[0]
    key = KEYS.get(hyperparameter, hyperparameter)
    if key == "upsampling" and point.value(key) == "constant":
        key = "factor"
    return {"ours": spell(point.value(key)), "source": source(point, key, dataset)}


def source(spec: Spec, key: str, dataset: str, role: str = "") -> str:
    """Where the value of a setting comes from: the data set's file, or the place that its declaration names."""
    stated = key.removeprefix("groups.") if key.startswith("groups.stage1.") else key
    if stated in paper_hyperparameters(dataset, spec.base_name, role):
        return f"datasets/{dataset}.py"
    head, _, rest = key.partition(".")
    return (
        source(spec.components[head], rest, dataset, head)
        if rest
        else declared(spec.kind, spec.base_name)["SETTINGS"][key].source
    )


def selected(cells: list[Cell]) -> list[dict[str, Any]]:
    """For each method that this run sweeps on some data: of all points of its grids, the one with the best worst group
    on validation data, and its accuracies in percent."""
    families: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        if locate(cell.folders[0]).sweep.swept:
            families.setdefault((cell.role, cell.printed, cell.dataset), []).append(cell)
    return [best(*key, family) for key, family in families.items()]


def best(role: str, printed: str, dataset: str, cells: list[Cell]) -> dict[str, Any]:
    """The selected point of the grids of one method, means over seeds."""
    grids = [locate(cell.folders[0]).sweep for cell in cells]
    metrics = load_metrics(cells)
    scores = metrics[(metrics["selection"] == "best") & (metrics["group"] == "")]
    means = scores.groupby(["split", "metric", "method"])["value"].mean()
    validation = means["val", "worst_group_accuracy"]
    (point,) = resolve("methods", chosen := validation.idxmax(), parse(dataset)[0]).points
    return {
        "dataset": role,
        "method": printed,
        "hyperparameter": " or ".join(", ".join(grid.overrides) for grid in grids),
        "tried": " or ".join(" x ".join(map(levels, repeat(grid), grid.overrides)) for grid in grids),
        "selected": ", ".join(
            f"{key}={spell(point.value(key))}" for key in dict.fromkeys(key for grid in grids for key in grid.overrides)
        ),
        "place": "selected by this run on validation data",
        "data": dataset,
        "seeds": metrics["seed"].nunique(),
        "validation_worst_group": 100 * validation[chosen],
        "test_worst_group": 100 * means["test", "worst_group_accuracy", chosen],
        "test_average": 100 * means["test", "average_accuracy", chosen],
    }


def levels(grid: Sweep, key: str) -> str:
    """The values of a setting in a grid."""
    return "; ".join(map(spell, sorted({point.value(key) for point in grid.points})))


def sweeps(reported: Path, cells: list[Cell]) -> pd.DataFrame:
    """This run's own sweeps first, then the paper's."""
    return pd.concat([pd.DataFrame(selected(cells)), tried(reported)], ignore_index=True).reindex(columns=COLUMNS)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it."""
    scores = table[["validation_worst_group", "test_worst_group", "test_average"]]
    display = table.drop(columns=scores.columns).fillna("–").astype(str)
    display["seeds"] = ["–" if pd.isna(n) else str(int(n)) for n in table["seeds"]]
    display["hyperparameter"] = display["hyperparameter"].str.replace("_", " ")
    return display.assign(
        **{
            name.replace("_", " "): ["–" if pd.isna(v) else f"{v:.1f}" for v in values]
            for name, values in scores.items()
        }
    ).rename(columns={"dataset": "data set", "data": "data used"})
