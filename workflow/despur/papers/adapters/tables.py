"""Tables of Contrastive Adapters (Zhang & Re 2022)."""

from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.numbers.tables import compare, format_spread, format_table, judge_anew
from despur.evidence.numbers.verdicts import judge_count
from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.evidence.runs.data_counts import describe_data
from despur.evidence.runs.run_files import load_labels
from despur.orchestration.experiments import ArtifactRun
from despur.papers.adapters.merged_tables import load_metrics_of_all_samples, load_runs
from despur.papers.adapters.sentence_metrics import load_sentence_metrics
from despur.reporting.judged_tables import judge_paper
from despur.reporting.tables import WriteArtifact, main, write_table
from despur.storage.store import Dataset, InputError

REPORTED = Path(__file__).parent / "reported"
SEEDS = 1  # the paper states none
BALANCED = 1.5  # largest over smallest group of a class: the paper ticks 1.07 and crosses 9.4
ADDED = {"dfr_subsample": "dfr_logistic_subsample", "dfr_upsample": "dfr_logistic_upsample"}  # shown beside the paper's
# beginnings of metrics that are not percentages
PLAIN = ("class_wise_group_size", "improved_group_robustness", "trained_params")


def format_plain(mean: float, std: float) -> str:
    """A number of any size; a dash for nothing."""
    if pd.isna(mean):
        return "–"
    number = f"{mean:,.0f}" if abs(mean) >= 1000 else f"{mean:.3g}"
    return number if pd.isna(std) or std == 0 else f"{number} ({std:.2g})"


def compare_printed(reported: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """Printed numbers beside ours. Metrics that are not percentages are counted, and compared to the last digit."""
    whole = metrics["metric"].str.startswith(PLAIN) & ~metrics["metric"].str.endswith("percent")
    of_training = {metric: "train" for metric in reported["metric"] if metric.startswith("class_wise_group_size")}
    table = compare(reported, metrics.assign(value=metrics["value"] / np.where(whole, 100, 1)), SEEDS, of_training)
    for i, row in table[table["metric"].str.startswith(PLAIN) & table["difference"].notna()].iterrows():
        judge_anew(table, i, judge_count(row["ours"], row["reported"], 0.5 * 10.0**-1))
    return table


def write_numbers(output: Path, table: pd.DataFrame) -> None:
    form = format_plain if table["metric"].str.startswith(PLAIN).any() else format_spread
    write_table(output, table, format_table(table, form))


def write_accuracies(name: str, artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Worst group, average and their gap of methods on foundation models."""
    metrics, reported = load_metrics_of_all_samples(artifact_runs), pd.read_csv(REPORTED / f"{name}.csv")
    numbers = pd.concat([reported, list_additions(reported, metrics)], ignore_index=True)
    write_numbers(output, compare_printed(numbers, metrics))


def list_additions(reported: pd.DataFrame, metrics: pd.DataFrame) -> pd.DataFrame:
    """A row without a number for each printed number of a method that is run in another way, too."""
    here = set(metrics["paper_method"])
    others = {method: other for method, other in ADDED.items() if other in here}
    rows = reported[reported["method"].isin(others)]
    return rows.assign(method=rows["method"].map(others), mean=np.nan, std=np.nan, note="not in the paper")


def write_table_2(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Sizes of the groups of the class where they differ most; and whether a method's gap is smaller than that of
    zero-shot."""
    metrics = load_metrics_of_all_samples(artifact_runs)
    measured = {*metrics.get("paper_method", ())}
    tables = [metrics, mark_improved(metrics)] if "zero_shot" in measured else [metrics]
    for artifact_run in artifact_runs:
        if artifact_run.paper_method == "zero_shot":
            with suppress(InputError):  # neither the data nor its groups are told: not run
                tables.append(measure_group_sizes(artifact_run))
    reported = pd.read_csv(REPORTED / "table_2.csv", dtype={"method": str}).fillna({"method": "data"})
    write_numbers(output, compare_printed(reported, pd.concat(tables, ignore_index=True)))


def mark_improved(metrics: pd.DataFrame) -> pd.DataFrame:
    """1 where a trained method has a smaller gap than zero-shot, else 0; by means over seeds."""
    gaps = select_test(metrics, metric="gap")
    keys = ["paper_dataset", "used_dataset", "data", "substitute", "backbone"]
    means = gaps.groupby([*keys, "paper_method"])["value"].mean().unstack("paper_method")
    better = means.drop(columns="zero_shot").lt(means["zero_shot"], axis=0).astype(float)
    runs = gaps[[*keys, "paper_method", "method"]].drop_duplicates([*keys, "paper_method"])
    long = better.reset_index().melt(keys, var_name="paper_method").merge(runs)
    return long.assign(metric="improved_group_robustness", split="test", selection="best", group="", seed=0)


def measure_group_sizes(artifact_run: ArtifactRun) -> pd.DataFrame:
    """The largest and smallest training group, and whether the groups are balanced."""
    run = artifact_run.result.runs()[0]
    most, least = find_group_sizes(load_labels(artifact_run))
    values = {"largest": most, "smallest": least, "balanced": float(most / least < BALANCED)}
    rows = [{"metric": f"class_wise_group_size_{name}", "value": value} for name, value in values.items()]
    named = {"data": run.data.name, "method": run.spec.name, "paper_method": "data", "split": "train"}
    return pd.DataFrame(rows).assign(**{**describe_data(artifact_run), **named})


def find_group_sizes(dataset: Dataset) -> tuple[float, float]:
    """Largest and smallest training group of the class where their ratio is largest."""
    train = dataset.rows("train")
    assert dataset.groups is not None
    pairs = []
    for label in np.unique(dataset.y[train]):
        counts = dataset.groups[train][dataset.y[train] == label].sum(axis=0)
        counts = counts[counts > 0]
        pairs.append((float(counts.max()), float(counts.min())))
    return max(pairs, key=lambda pair: pair[0] / pair[1])


def write_table_6(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """Trained parameters, counted; worst-group accuracy, and by how much it exceeds that of SSA."""
    metrics = load_metrics_of_all_samples(artifact_runs)
    reported = pd.read_csv(REPORTED / "table_6.csv")
    if len(metrics):
        worst, same = rows_where(metrics, metric="worst_group_accuracy", group=""), ["split", "selection", "seed"]
        best = rows_where(worst, paper_method="ssa").set_index(["paper_dataset", *same])["value"]
        keys = pd.MultiIndex.from_frame(worst[["paper_dataset", *same]])
        gain = worst["value"].to_numpy() - best.reindex(keys).to_numpy()
        is_count = metrics["metric"].str.startswith("trained_params")
        counted = metrics[is_count].drop_duplicates(["paper_method", "backbone", "seed", "metric"])
        counted = counted.replace({"metric": {"trained_params_share": "trained_params_percent"}})
        counted["paper_dataset"] = "waterbirds_and_celeba"
        delta = worst.assign(metric="worst_group_accuracy_delta_vs_prior_sota", value=gain).dropna(subset="value")
        metrics = pd.concat([metrics[~is_count], counted, delta], ignore_index=True)
    write_numbers(output, compare_printed(reported, metrics))


def load_claim_metrics(artifact_runs: list[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The metrics and resamples that claims use. Claims about Figure 5 use only zero-shot classification of Table 3
    (merged_tables.add_zero_shot)."""
    metrics, resamples = load_runs(artifact_runs)
    if any(artifact_run.artifact == "figure_5" for artifact_run in artifact_runs):
        metrics, resamples = (rows_where(table, artifact="figure_5") for table in (metrics, resamples))
    return metrics, resamples


ARTIFACTS: dict[str, WriteArtifact] = {
    **{name: partial(write_accuracies, name) for name in ("table_1", "table_3", "table_4", "table_5")},
    "table_2": write_table_2,
    "table_6": write_table_6,
    **judge_paper("adapters", load_sentence_metrics, load_claim_metrics),
}

if __name__ == "__main__":
    main(ARTIFACTS)
