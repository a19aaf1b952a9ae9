"""Tables of Contrastive Learning for Fair Representations, from the settings that validation data select
(selected_settings.py)."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.numbers.tables import compare, format_spread, format_table
from despur.evidence.runs.data_counts import measure_data
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.beyond import compare_baselines, format_baselines
from despur.papers.fair_cl.measurements import compare_means, load_measurements
from despur.papers.fair_cl.ratios import judge_ratios
from despur.papers.fair_cl.selections import compare_rules, format_rules
from despur.papers.fair_cl.two_classes import load_claim_metrics, load_pair
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table

PAPER = Path(__file__).parent
REPORTED = PAPER / "reported"
SEEDS = 10  # Table 1
METRICS = {
    "average_accuracy": "accuracy",
    "gap": "tpr_gap",
    "leakage_representations": "leakage_h",
    "leakage_logits": "leakage_yhat",
}


def compare_printed(reported: pd.DataFrame, metrics: pd.DataFrame, resamples: pd.DataFrame) -> pd.DataFrame:
    """Printed numbers beside ours, with the specification that was selected. Ratios (trade-off, time) are
    not percentages."""
    ratios = set(reported.loc[reported["unit"] == "ratio", "metric"])
    renamed = metrics.assign(metric=metrics["metric"].replace(METRICS))
    renamed["value"] = renamed["value"] / np.where(renamed["metric"].isin(ratios), 100, 1)
    drawn = resamples.assign(metric=resamples["metric"].replace(METRICS)) if len(resamples) else resamples
    table = compare(reported, renamed, SEEDS, resamples=drawn)
    chosen_for = metrics.groupby(["paper_method", "data"])["method"].first() if len(metrics) else {}
    return table.assign(selected=[chosen_for.get((row.method, row.data), "") for row in table.itertuples()])


def replace_tradeoffs(table: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Table 1 with trade-offs of means (deviations stay those over seeds); where a method of the paper is missing, the
    verdict names it."""
    means, run = compare_means(metrics), metrics.groupby("paper_dataset")["paper_method"].agg(set)
    for i, row in table[table["metric"] == "tradeoff"].iterrows():
        here = run.get(row["paper_dataset"], set())
        if row["seeds"]:
            value = means["tradeoff", row["paper_dataset"], row["data"], row["method"]]
            table.loc[i, ["ours", "difference"]] = (
                value,
                value - row["reported"] if pd.notna(row["difference"]) else np.nan,
            )
        elif row["method"] in here:
            missing = ", ".join(name for name in selected_settings.PAPER_METHODS if name not in here)
            table.loc[i, "reason"] = f"not computed without {missing}"
    return table


def write_numbers(output: Path, table: pd.DataFrame) -> None:
    """A table of printed numbers beside ours; the selected setting is the last column."""
    display = format_table(table, partial(format_spread, decimals=2))
    write_table(output, table, display.assign(selected=table["selected"]))


def write_table_1(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Accuracy, GAP, leakages, trade-off and relative training time of five methods."""
    metrics, resamples = load_measurements(artifact_runs)
    table = replace_tradeoffs(compare_printed(pd.read_csv(REPORTED / "table_1.csv"), metrics, resamples), metrics)
    judge_ratios(table, metrics, resamples, SEEDS)
    on_substitutes = table["paper_dataset"].isin(metrics.loc[metrics["substitute"].astype(bool), "paper_dataset"])
    timeless = on_substitutes & table["metric"].eq("relative_time") & table["seeds"].eq(0)
    table.loc[timeless, "reason"] = "times are compared on the paper's data alone"
    write_numbers(output, table)


def write_table_2(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Two classes: a model of all classes (``ce_multiclass``) beside models of the two."""
    write_numbers(output, compare_printed(pd.read_csv(REPORTED / "table_2.csv"), *load_pair(artifact_runs)))


def write_table_beyond(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Tuned baselines, the non-linear attacker, and intervals of GAP."""
    table = compare_baselines(artifact_runs)
    write_table(output, table, format_baselines(table))


def write_table_selection(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """The settings that rules select: from the sweeps of Table 1, or from those of learning rate and batch size."""
    table = compare_rules(artifact_runs)
    write_table(output, table, format_rules(table))


def load_sentence_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What sentences speak of: the selected runs, and the data."""
    measured = [selected_settings.load_selected(artifact_runs)[0], measure_data(artifact_runs)]
    return pd.concat(measured, ignore_index=True), pd.DataFrame()


ARTIFACTS: dict[str, WriteArtifact] = {
    "table_1": write_table_1,
    "table_2": write_table_2,
    "table_beyond": write_table_beyond,
    "table_selection": write_table_selection,
    "table_tuning": write_table_selection,
    **judge_paper("fair_cl", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
