"""Beyond the paper, which calls for such a comparison: the settings that other rules than that of
selected_settings.py select from the same runs, and their results."""

from typing import Any

import pandas as pd

from despur.evidence.numbers.tables import format_column, name_columns
from despur.evidence.runs.artifact_metrics import keep_candidates, rows_where
from despur.evidence.verdicts import NumberVerdict
from despur.metrics.selection import on_pareto_front, select, sweep_means
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.method_names import VARIANTS

DATASETS = ["moji", "hate_speech", "bios", "imsitu"]
METHODS = list(dict.fromkeys([*selected_settings.METHODS, *VARIANTS]))
RULES = ("near_best_accuracy", "dto", "dto_shared")
SHOWN = {"average_accuracy": "accuracy", "gap": "gap"}
RULE_COLUMNS = [
    *("paper_dataset", "method", "rule", "selected", "settings", "on_front"),
    *("val_accuracy", "val_gap", "accuracy", "gap", "seeds", "data", "verdict"),
]


def find_optimum(means: list[pd.DataFrame]) -> tuple[float, float]:
    """The best accuracy and fairness of all methods on a task: what ``dto_shared`` measures distances to."""
    every = pd.concat(means)
    return float(every["average_accuracy"].max()), float(1 - every["gap"].min())


def apply_rules(metrics: pd.DataFrame, best: tuple[float, float]) -> list[dict[str, Any]]:
    """The setting that each rule picks for one method on one data set, by means over seeds on validation data; with
    test results, too, in percent."""
    val, test = (sweep_means(metrics, ["method"], split) for split in ("val", "test"))
    front = pd.Series(on_pareto_front(val["average_accuracy"].to_numpy(), val["gap"].to_numpy()), val.index)
    rows = []
    for rule in RULES:
        optimum = best if rule == "dto_shared" else None
        (picked,) = select(val, rule.removesuffix("_shared"), selected_settings.MARGIN, optimum)
        values = {
            f"{prefix}{name}": 100 * means.loc[picked, metric]
            for prefix, means in (("val_", val), ("", test))
            for metric, name in SHOWN.items()
        }
        about = {"rule": rule, "selected": picked, "settings": len(val), "on_front": front[picked]}
        rows.append(about | values | {"seeds": rows_where(metrics, method=picked)["seed"].nunique()})
    return rows


def compare_rules(artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """A row for each method, rule and data set that is used."""
    metrics, rows = keep_candidates(selected_settings.load_settings(artifact_runs), selected_settings.FAMILY), []
    for paper_dataset in DATASETS:
        own = rows_where(metrics, paper_dataset=paper_dataset)
        for used_dataset, here in own.groupby("used_dataset", sort=False):
            best = find_optimum([sweep_means(here, ["paper_method", "method"], "val")])
            verdict = NumberVerdict.SUBSTITUTE if here["substitute"].iloc[0] else "not in the paper"
            for method in METHODS:
                mine = rows_where(here, paper_method=method)
                head = {"paper_dataset": paper_dataset, "method": method, "data": used_dataset, "verdict": verdict}
                rows += [head | selected for selected in apply_rules(mine, best)] if len(mine) else []
        if not len(own):
            rows.append({"paper_dataset": paper_dataset, "seeds": 0, "verdict": NumberVerdict.NOT_RUN})
    return pd.DataFrame(rows, columns=RULE_COLUMNS)


def format_rules(table: pd.DataFrame) -> pd.DataFrame:
    """The table in its display format; without methods that were run at a single setting."""
    table = table[table["settings"].isna() | (table["settings"] > 1)].drop(columns="settings")
    table = table.sort_values("seeds", key=lambda seeds: seeds == 0, kind="stable")
    shown = {name: format_column(table[name]) for name in ("val_accuracy", "val_gap", "accuracy", "gap")}
    shown["rule"] = table["rule"].fillna("–").str.replace("_", " ")
    shown["on_front"] = table["on_front"].map({True: "yes", False: "no"})
    return name_columns(table.assign(**shown).fillna("–"), {"on_front": "on the front"})
