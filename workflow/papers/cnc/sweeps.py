"""Tables A.7 to A.11: what the paper tried, what it selected, what we take and why, and what our own sweep selects."""

from pathlib import Path
from typing import Any

import pandas as pd

from despur.experiments import Cell
from despur.paths import locate
from despur.reporting.printed import printed_settings
from despur.reporting.tables import load_metrics
from despur.settings import spell
from despur.spec import Spec, available, declared, published, resolve

COLUMNS = ["dataset", "method", "hyperparameter", "tried", "selected", "place", "ours", "source",
           "data", "seeds", "validation_worst_group", "test_worst_group", "test_average"]  # fmt: skip
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
    """A row for each swept hyper-parameter: the values that the paper tried, the one that it states, the one that we take."""
    printed = pd.concat([pd.read_csv(reported / f"table_a{i}.csv", dtype={"mean": str}) for i in range(7, 12)])
    printed["hyperparameter"] = printed["setting"].map(lambda text: printed_settings(text)["hyperparameter"])
    keys = ["dataset", "method", "hyperparameter"]
    values = printed.groupby(keys, sort=False)["mean"].agg("; ".join).rename("tried").reset_index()
    table = values.merge(pd.read_csv(reported / "table_a7_a11.csv", dtype=str), how="left", on=keys, validate="1:1")
    return pd.concat([table, pd.DataFrame([taken(*row) for row in table[keys].itertuples(index=False)])], axis=1)


def taken(dataset: str, method: str, hyperparameter: str) -> dict[str, str]:
    """Our value on the paper's data set, and where it comes from; of CNC for those that all methods share."""
    if dataset not in available("datasets"):
        return {"ours": "", "source": f"no {dataset} here"}
    point = resolve("methods", "cnc" if method == "shared" else method, dataset).points[0]
    key = KEYS.get(hyperparameter, hyperparameter)
    if key == "upsampling" and point.value(key) == "constant":
        key = "factor"
    return {"ours": spell(point.value(key)), "source": source(point, key, dataset)}


def source(spec: Spec, key: str, dataset: str, role: str = "") -> str:
    """Where the value of a setting comes from: the data set's file, or the place that its declaration names."""
    if key.removeprefix("groups.") in published(dataset, spec.base, role):
        return f"datasets/{dataset}.py"
    head, _, rest = key.partition(".")
    return source(spec.parts[head], rest, dataset, head) if rest else declared(spec.kind, spec.base)["SETTINGS"][key].source


def selected(cells: list[Cell]) -> list[dict[str, Any]]:
    """For each sweep of this run: the setting with the best worst group on validation data, and its test accuracies in percent."""
    rows = []
    for cell in cells:
        metrics = load_metrics([cell])
        keys = [key for key in locate(cell.folders[0]).sweep.swept if key in metrics]
        if not keys:
            continue
        scores = metrics[(metrics["selection"] == "best") & (metrics["group"] == "")]
        means = scores.groupby(["split", "metric", *keys])["value"].mean()
        validation = means["val", "worst_group_accuracy"]
        best = validation.idxmax()
        chosen = [spell(v if isinstance(v, str) else float(v)) for v in (best if isinstance(best, tuple) else (best,))]
        levels = {key: "; ".join(map(spell, sorted(metrics[key].unique().tolist()))) for key in keys}
        rows.append({
            "dataset": cell.role, "method": cell.printed, "hyperparameter": ", ".join(keys), "tried": " x ".join(levels.values()),
            "selected": ", ".join(chosen), "place": "selected by this run on validation data",
            "data": cell.dataset, "seeds": metrics["seed"].nunique(), "validation_worst_group": 100 * validation[best],
            "test_worst_group": 100 * means["test", "worst_group_accuracy"][best],
            "test_average": 100 * means["test", "average_accuracy"][best],
        })  # fmt: skip
    return rows


def sweeps(reported: Path, cells: list[Cell]) -> pd.DataFrame:
    """This run's own sweeps first, then the paper's."""
    return pd.concat([pd.DataFrame(selected(cells)), tried(reported)], ignore_index=True).reindex(columns=COLUMNS)


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The table as people read it."""
    scores = table[["validation_worst_group", "test_worst_group", "test_average"]]
    display = table.drop(columns=scores.columns).fillna("–").astype(str)
    display["seeds"] = ["–" if pd.isna(n) else str(int(n)) for n in table["seeds"]]
    display["hyperparameter"] = display["hyperparameter"].str.replace("_", " ")
    return display.assign(**{
        name.replace("_", " "): ["–" if pd.isna(v) else f"{v:.1f}" for v in values] for name, values in scores.items()
    }).rename(columns={"dataset": "data set", "data": "data used"})  # fmt: skip
