"""The numbers that the paper states in sentences: sizes of the data, counted in ours; of its sweep, what ours says."""

from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.tables import COLUMNS, format_table
from despur.evidence.numbers.verdicts import judge_count
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration.experiments import ArtifactRun
from despur.papers.domain_temperature.selection import FRACTIONS, SHARES, load_runs
from despur.reporting.tables import write_table
from despur.specs.paths import locate_result
from despur.storage.store import Dataset, load_dataset

REPORTED = Path(__file__).parent / "reported/prose.csv"
SPLITS = {"train": "train", "validation": "val", "test_id": "test_id", "test_ood": "test_ood"}
CLAIMS = {"sigma_from_which_often_best_ood": "often_best_ood_above_25"}
DOMAIN_WEIGHTED = ("domain_weighted_negatives", "domain_weighted_pairs")


def write_prose(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """A row for each printed number and each data set used for the paper's, with the reason where there is none."""
    runs = load_runs(artifact_runs)
    rows = [row for number in pd.read_csv(REPORTED).itertuples() for row in compare_number(number, artifact_runs, runs)]
    table = pd.DataFrame(rows).reindex(columns=[*COLUMNS, "unit"])
    display = format_table(table, lambda mean, std: "–" if pd.isna(mean) else f"{mean:,.4g}")
    display["metric"] += " (" + table["unit"] + ")"
    write_table(output, table, display.assign(reason=table["reason"].fillna("")))


def compare_number(number: Any, artifact_runs: list[ArtifactRun], runs: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a printed number: one for each data set if it is a count, else one."""
    row = {
        "paper_dataset": number.dataset,
        "method": number.method,
        "setting": number.setting,
        "metric": number.metric,
        "reported": number.mean,
        "reported_std": number.std,
        "note": number.note,
        "unit": number.unit,
        "seeds": 0,
        "verdict": NumberVerdict.NOT_RUN,
    }
    if number.metric in CLAIMS:
        return [row | {"reason": f"a range, judged as a claim: {CLAIMS[number.metric]}"}]
    if number.metric == "test_ood_accuracy_threshold":
        share = {"verdict": NumberVerdict.NOT_COMPARED, "reason": describe_share_above(number.mean, runs)}
        return [row | share if len(runs) else row]
    counted = [
        row | compare_count(number, artifact_run)
        for artifact_run in {artifact_run.dataset: artifact_run for artifact_run in artifact_runs}.values()
    ]
    return counted or [row | {"reason": "no data here"}]


def compare_count(number: Any, artifact_run: ArtifactRun) -> dict[str, Any]:
    """A count of the data that the first run reads."""
    result = locate_result(artifact_run.folders[0])
    if not (result.data.folder / "table.parquet").exists():
        return {"reason": "its data is not made here"}
    ours = count_samples(number, load_dataset(result.data.folder, result.runs()[0].data.name))
    row = {"ours": ours, "seeds": 1, "data": artifact_run.dataset}
    if artifact_run.substitute:
        return row | {"verdict": NumberVerdict.SUBSTITUTE}
    return row | judge_count(ours, number.mean, 0.0)


def count_samples(number: Any, dataset: Dataset) -> int:
    """Samples of a split, or of all; or labels of a share."""
    own = parse_settings(number.setting)
    if number.metric == "n_examples":
        return len(dataset.rows(SPLITS[own["split"]])) if "split" in own else len(dataset.table)
    labels = {FRACTIONS[SHARES.get(name, name)]: count for name, count in dataset.about["label_fractions"].items()}
    return int(labels[float(own["label_fraction"])])


def describe_share_above(threshold: float, runs: pd.DataFrame) -> str:
    """Which share of the settings of the two methods has a mean accuracy above a threshold, by split; at sigma = 50 and
    1 % of the labels."""
    runs = runs[runs["paper_method"].isin(DOMAIN_WEIGHTED) & (runs["sigma"] == 50)]
    accuracies = runs[(runs["metric"] == "probe_accuracy") & (runs["group"] == "1%")]
    means = accuracies.groupby(["split", "paper_method", "method"])["value"].mean()
    if not len(means):
        return "neither method was run at sigma = 50"
    share, count = (means > threshold).groupby("split").mean(), len(means["test_id"])
    return f"settings above it: Test-OOD {share['test_ood']:.0%}, Test-ID {share['test_id']:.0%}, of {count}"
