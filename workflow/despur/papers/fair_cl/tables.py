"""Tables of Contrastive Learning for Fair Representations, from the settings that validation data select
(selected_settings.py)."""

import math
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.numbers.sample_noise import is_drawn_by_seed, is_official
from despur.evidence.numbers.tables import compare, format_spread, format_table, judge_anew
from despur.evidence.numbers.verdicts import judge_logarithms, last_digit
from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.evidence.runs.data_counts import measure_data
from despur.evidence.statistics.contrasts import Contrast
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.papers.fair_cl.beyond import compare_baselines, format_baselines
from despur.papers.fair_cl.measurements import compare_means, load_measurements
from despur.papers.fair_cl.selections import compare_rules, format_rules
from despur.papers.fair_cl.two_classes import load_claim_metrics, load_pair
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table
from despur.storage.finished_runs import list_bootstrap_columns

REPORTED = Path(__file__).parent / "reported"
SEEDS = 10  # Table 1
METRICS = {
    "average_accuracy": "accuracy",
    "gap": "tpr_gap",
    "leakage_representations": "leakage_h",
    "leakage_logits": "leakage_yhat",
}
RATIOS = ("tradeoff", "relative_time")


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
            difference = value - row["reported"] if pd.notna(row["difference"]) else np.nan
            table.loc[i, ["ours", "difference"]] = value, difference
        elif row["method"] in here:
            missing = ", ".join(name for name in selected_settings.PAPER_METHODS if name not in here)
            table.loc[i, "reason"] = f"not computed without {missing}"
    return table


def judge_ratios(table: pd.DataFrame, metrics: pd.DataFrame, resamples: pd.DataFrame, printed_seeds: int) -> None:
    """Write the verdicts of ratios on the paper's own data into Table 1: the rule of numbers on logarithms
    (despur/evidence/numbers/verdicts.py)."""
    half = {name: last_digit(rows["reported"]) for name, rows in table.groupby("metric")}
    for i, row in table[table["metric"].isin(RATIOS) & table["difference"].notna()].iterrows():
        if (row["metric"], row["method"]) == ("relative_time", "ce"):
            judged = {"verdict": NumberVerdict.NOT_COMPARED, "reason": "1 by definition"}
        else:
            logs = load_logarithms(metrics, row, ["value"])["value"].to_numpy(float)
            if row["metric"] != "relative_time":  # a trade-off is of means
                logs = logs + math.log(row["ours"]) - logs.mean()
            noise = find_test_variance(metrics, resamples, row, len(logs))
            judged = judge_logarithms(logs, row["reported"], printed_seeds, noise, half[row["metric"]])
        judge_anew(table, i, judged)


def load_logarithms(table: pd.DataFrame, row: pd.Series, columns: list[str]) -> pd.DataFrame:
    """Logarithms of a ratio by seed. Times: over CE's from the same seed, on the same machine (measurements.py)."""
    test = select_test(table, group="", **row[["metric", "paper_dataset", "data"]].to_dict())
    logs = {name: np.log(rows.set_index("seed")[columns].astype(float)) for name, rows in test.groupby("paper_method")}
    ratio_logs = logs[row["method"]]
    if row["metric"] != "relative_time":
        return ratio_logs
    return (ratio_logs - logs["ce"]).dropna() if "ce" in logs else ratio_logs[:0]


def find_test_variance(metrics: pd.DataFrame, resamples: pd.DataFrame, row: pd.Series, seeds: int) -> float:
    """Of the difference of two logarithms, by test samples: none of times, nor on the paper's own test split; else
    twice that of ours. NaN where it is not known."""
    data = rows_where(metrics, data=row["data"])
    if row["metric"] == "relative_time" or is_official(row["data"]) or is_drawn_by_seed(data):
        return 0.0
    if not len(rows_where(resamples, metric=row["metric"])):
        return math.nan
    drawn = load_logarithms(resamples, row, list_bootstrap_columns(resamples)).to_numpy()
    return 2 * float(Contrast(np.zeros(seeds), drawn).test_variance)


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
