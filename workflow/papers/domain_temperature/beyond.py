"""Two tables that the paper has not: what other rules of selection give, and the choices that it leaves open."""

from pathlib import Path
from typing import Any

import pandas as pd
from sweep import FAMILY, PRINTED, RULES, as_printed, choose, load, selected

from despur.orchestration.experiments import Cell, load_experiments
from despur.reporting.tables import spread, write_table
from despur.specs.names import parse
from despur.specs.resolution import resolve

PAPER = Path(__file__).parent.name
ACCURACIES = {
    "validation_accuracy": "validation",
    "test_ood_accuracy": "Test-OOD",
    "test_id_accuracy": "Test-ID",
    "domain_test_id_accuracy": "D-Test-ID",
}
VERDICTS = {
    "validation": "the paper's rule",
    "held_out_domain": "not in the paper",
    "oracle": "selected on test data: no fair number",
}


def summary(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Mean, deviation over seeds and seeds of the accuracies at 1 % of the labels, percent: a row for each combination
    of keys."""
    table = as_printed(runs)
    rows = table[table["metric"].isin(PRINTED) & (table["label_fraction"] == 0.01)]
    found = rows.groupby([*keys, "metric"], sort=False, dropna=False)["value"].agg(["mean", "std", "count"])
    return pd.DataFrame(
        {"ours": 100 * found["mean"], "ours_std": 100 * found["std"], "seeds": found["count"]}
    ).reset_index()


def side_by_side(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """A summary as people read it: a column for each accuracy."""
    text = [spread(*pair) for pair in zip(table["ours"], table["ours_std"], strict=True)]
    own = table.assign(text=text, **{key: [spelled(value) for value in table[key]] for key in keys})
    wide = own.pivot_table(index=[*keys, "seeds"], columns="metric", values="text", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(ACCURACIES)).astype(object).rename(columns=ACCURACIES)
    return wide.where(wide.notna(), "–").reset_index().rename_axis(columns=None)


def spelled(value: Any) -> str:
    """``50`` for 50.0; a dash for nothing."""
    return "–" if pd.isna(value) or value == "" else f"{value:g}" if isinstance(value, float) else str(value)


def not_run(**keys: Any) -> dict[str, Any]:
    """A row that says so."""
    return {**keys, "metric": "test_ood_accuracy", "seeds": 0, "verdict": "not run here"}


def table_selection(cells: list[Cell], output: Path) -> None:
    """What each rule selects at each sigma, and its accuracies."""
    runs, parts = load(cells), []
    keys = ["sigma", "printed", "rule", "method", "data"]
    for rule in RULES:
        own = selected(runs, choose(runs, rule), rule)
        parts.append(summary(own, [*FAMILY, "method"]).assign(rule=rule, verdict=VERDICTS[rule]))
        missing = [name for name in load_experiments(PAPER)["methods"] if name not in set(own["printed"])]
        parts.append(pd.DataFrame([not_run(printed=name, rule=rule) for name in missing]))
    table = pd.concat([part for part in parts if len(part)], ignore_index=True)
    table = table.reindex(columns=[*keys, "stand_in", "metric", "ours", "ours_std", "seeds", "verdict"])
    table = table.sort_values(["sigma", "printed"], kind="stable")
    write_table(output, table, side_by_side(table, [*keys, "verdict"]))


def choices(data: str, method: str) -> str:
    """In what a method differs from its defaults on these data, its length aside."""
    changes = resolve("methods", method, parse(data)[0]).points[0].changes
    return ", ".join(f"{key}={value}" for key, value in sorted(changes.items()) if key != "epochs") or "defaults"


def table_choices(cells: list[Cell], output: Path) -> None:
    """Accuracies under each of the choices that this run has."""
    runs = load(cells)
    named = [choices(*pair) for pair in zip(runs["data"], runs["method"], strict=True)]
    keys = ["printed", "data", "choices", "epochs"]
    table = summary(runs.assign(choices=named), keys).assign(verdict="not in the paper")
    missing = [
        name
        for name in load_experiments(PAPER)["artifacts"]["table_choices"]["methods"]
        if name not in set(table["printed"])
    ]
    parts = [table, pd.DataFrame([not_run(printed=name) for name in missing])]
    table = pd.concat([part for part in parts if len(part)], ignore_index=True).reindex(columns=table.columns)
    write_table(output, table, side_by_side(table, [*keys, "verdict"]))
