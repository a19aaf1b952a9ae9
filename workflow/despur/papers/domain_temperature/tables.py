"""Tables of Lewis et al. 2023, and two that the paper does not have (what other rules of selection give, and the
choices that it leaves open): a function writes each."""

from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.tables import format_spread
from despur.evidence.runs.artifact_metrics import load_resamples, rows_where
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun, load_experiments
from despur.papers.domain_temperature.effective_temperatures import measure_convergence
from despur.papers.domain_temperature.selection import (
    FAMILY,
    PRINTED,
    RULES,
    average_settings,
    keep_selected,
    load_runs,
    rename_as_printed,
    select_settings,
)
from despur.papers.domain_temperature.sentence_metrics import load_sentence_metrics
from despur.papers.domain_temperature.temperature_grids import (
    compare_accuracies,
    compare_grids,
    format_grid,
    load_reported,
)
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table
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


def write_accuracies(name: str, artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Tables 1, 2 and 9: accuracies of the setting of each method that is selected on validation data, by sigma."""
    runs = load_runs(artifact_runs)
    write_table(output, compare_accuracies(load_reported(name), keep_selected(runs, select_settings(runs))))


def write_table_3_8(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Tables 3 to 8, a file each: the accuracies of every setting of the two methods."""
    table = compare_grids(rows_where(load_runs(artifact_runs), sigma=50.0))
    for number, part in table.groupby("table"):
        write_table(output.with_name(f"table_{number}"), part, format_grid(part))


def write_table_selection(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """What each rule selects at each sigma, and its accuracies."""
    runs, parts = load_runs(artifact_runs), []
    for rule in RULES:
        selected_runs = keep_selected(runs, select_settings(runs, rule), rule)
        parts.append(average_accuracies(selected_runs, [*FAMILY, "method"]).assign(rule=rule, verdict=VERDICTS[rule]))
        parts.append(rows_not_run(load_experiments(PAPER)["methods"], selected_runs["paper_method"], rule=rule))
    keys = ["sigma", "paper_method", "rule", "method", "data"]
    table = concat_rows(parts).reindex(columns=[*keys, "substitute", "metric", "ours", "ours_std", "seeds", "verdict"])
    table = table.sort_values(["sigma", "paper_method"], kind="stable")
    write_table(output, table, format_accuracies(table, [*keys, "verdict"]))


def write_table_choices(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Accuracies under each of the choices that this run has."""
    runs = load_runs(artifact_runs)
    choices = [describe_choices(*pair) for pair in zip(runs["data"], runs["method"], strict=True)]
    keys = ["paper_method", "data", "choices", "epochs"]
    ours = average_accuracies(runs.assign(choices=choices), keys).assign(verdict="not in the paper")
    missing = rows_not_run(load_experiments(PAPER)["artifacts"]["table_choices"]["methods"], ours["paper_method"])
    table = concat_rows([ours, missing]).reindex(columns=ours.columns)
    write_table(output, table, format_accuracies(table, [*keys, "verdict"]))


def describe_choices(data: str, method: str) -> str:
    """In which settings a method differs from its defaults on these data, its length aside."""
    changes = resolve("methods", method, parse(data)[0]).points[0].changes
    return ", ".join(f"{key}={value}" for key, value in sorted(changes.items()) if key != "epochs") or "defaults"


def average_accuracies(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Mean, deviation over seeds and number of seeds of the accuracies at 1 % of the labels, percent: a row for each
    combination of keys and accuracy."""
    table = rename_as_printed(runs)
    rows = rows_where(table, metric=[*PRINTED], label_fraction=0.01)
    means = rows.groupby([*keys, "metric"], sort=False, dropna=False)["value"].agg(["mean", "std", "count"])
    percent = {"ours": 100 * means["mean"], "ours_std": 100 * means["std"], "seeds": means["count"]}
    return pd.DataFrame(percent).reset_index()


def rows_not_run(methods: Any, run: pd.Series, **columns: Any) -> pd.DataFrame:
    """A row for each method that was not run."""
    row = {**columns, "metric": "test_ood_accuracy", "seeds": 0, "verdict": NumberVerdict.NOT_RUN}
    return pd.DataFrame([row | {"paper_method": name} for name in methods if name not in set(run)])


def concat_rows(parts: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables below each other; an empty one would change the types of the others' columns."""
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def format_accuracies(table: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """The table as people read it: a column for each accuracy."""
    text = [format_spread(*pair) for pair in zip(table["ours"], table["ours_std"], strict=True)]
    texts = table.assign(text=text, **{key: table[key].map(format_key) for key in keys})
    wide = texts.pivot_table(index=[*keys, "seeds"], columns="metric", values="text", aggfunc="first", sort=False)
    wide = wide.reindex(columns=list(ACCURACIES)).astype(object).rename(columns=ACCURACIES)
    return wide.where(wide.notna(), "–").reset_index().rename_axis(columns=None)


def format_key(value: Any) -> str:
    """``50`` for 50.0; a dash for nothing."""
    if pd.isna(value) or value == "":
        return "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def load_claim_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples for the claims, with the distance of effective temperatures from tau_alpha.

    ``selection``: "best" are all runs, "validation" those that the paper's rule selects, "all_settings" means over
    settings, "all_settings_of_a_dimension" means over the settings of a projector's dimension."""
    runs, resamples = load_runs(artifact_runs), load_runs(artifact_runs, load_resamples)
    selected = select_settings(runs)

    def list_selections(table: pd.DataFrame) -> list[pd.DataFrame]:
        of_a_dimension = average_settings(table, "all_settings_of_a_dimension", "projector_dim")
        return [table, keep_selected(table, selected), average_settings(table), of_a_dimension]

    metrics = pd.concat([*list_selections(runs), measure_convergence(artifact_runs)], ignore_index=True)
    return metrics, pd.concat(list_selections(resamples), ignore_index=True)


ARTIFACTS: dict[str, WriteArtifact] = {
    "table_1": partial(write_accuracies, "table_1"),
    "table_2": partial(write_accuracies, "table_2"),
    "table_3_8": write_table_3_8,
    "table_9": partial(write_accuracies, "table_9"),
    "table_selection": write_table_selection,
    "table_choices": write_table_choices,
    **judge_paper("domain_temperature", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
