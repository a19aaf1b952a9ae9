"""The numbers that the paper states in sentences, beside what this run measures."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.numbers.printed import find_refusal
from despur.evidence.numbers.tables import compare, format_table
from despur.evidence.numbers.verdicts import judge_values
from despur.evidence.runs.run_files import NotRun
from despur.orchestration.experiments import ArtifactRun
from despur.papers.cnc.measures import MEASURES, Measure, find_baseline
from despur.papers.cnc.paper_runs import PaperRuns
from despur.papers.cnc.printed_rows import compare_statistic, format_number, printed_row
from despur.reporting.tables import write_table

REPORTED = Path(__file__).parent / "reported/prose.csv"
SEEDS = 3  # App. E.2.1
DATASETS = ["cmnist", "waterbirds", "celeba", "civilcomments"]
ACCURACIES = ("worst_group_accuracy", "average_accuracy")
CLAIMS = {"lambda": "flat_in_lambda", "p_corr_from_which_cnc_is_better": "more_robust_above_95"}
# Sec. 5.3 does not say which labels of stage 1 it compares with the attribute: both are measured.
LABELS = {
    "erm_stage1": "the labels are predictions of stage 1",
    "erm_stage1_clusters": "the labels are clusters of stage 1, as in Table 1 (App. E.2.4)",
}


def write_prose(artifact_runs: list[ArtifactRun], output: Path) -> None:
    """A row for each printed number and each data set used for its own, with the reason where there is none."""
    table = compare_prose(pd.read_csv(REPORTED), artifact_runs)
    display = format_table(table, format_number)
    display["metric"] += " (" + table["unit"] + ")"
    write_table(output, table, display.assign(reason=table["reason"].fillna("")))


def compare_prose(printed: pd.DataFrame, artifact_runs: list[ArtifactRun]) -> pd.DataFrame:
    """Accuracies are compared as in Table 1; what else is printed has a measure of its own."""
    accuracies = printed["metric"].isin(ACCURACIES)
    table = compare(printed[accuracies], PaperRuns(DATASETS, artifact_runs).metrics, SEEDS)
    table["reason"] = np.where(
        table["seeds"] == 0, "method, setting or data set not in this run", table["reason"].fillna("")
    )
    rows = [row for number in printed[~accuracies].itertuples() for row in measure_number(number, artifact_runs)]
    table = pd.concat([table, pd.DataFrame(rows)], ignore_index=True)
    return table.assign(unit=table["metric"].map(dict(zip(printed["metric"], printed["unit"], strict=True))))


def measure_number(number: Any, artifact_runs: list[ArtifactRun]) -> list[dict[str, Any]]:
    """A row for each of a number's data sets in this run; a number of all data sets together has one."""
    if number.metric in CLAIMS:
        return [printed_row(number) | {"reason": f"a range, judged as a claim: {CLAIMS[number.metric]}"}]
    rows = []
    for runs in group_runs(number.dataset, artifact_runs):
        for method in LABELS if number.method in LABELS else [number.method]:
            row = measure_row(number, number._replace(method=method), runs)
            rows.append({"reason": LABELS[method]} | row if method in LABELS else row)
    return rows or [printed_row(number) | {"reason": f"no data is used for {number.dataset}"}]


def group_runs(dataset: str, artifact_runs: list[ArtifactRun]) -> list[PaperRuns]:
    """The runs behind a number: of each data set used for the paper's; for "all" and "mean_of_4", of all together."""
    if dataset not in DATASETS:
        mine = [artifact_run for artifact_run in artifact_runs if artifact_run.paper_dataset in DATASETS]
        return [PaperRuns(DATASETS, mine)] if mine else []
    mine = [artifact_run for artifact_run in artifact_runs if artifact_run.paper_dataset == dataset]
    used = sorted({artifact_run.dataset for artifact_run in mine})
    return [
        PaperRuns([dataset], [artifact_run for artifact_run in mine if artifact_run.dataset == name]) for name in used
    ]


def measure_row(printed: Any, number: Any, runs: PaperRuns) -> dict[str, Any]:
    """The row of a printed number; ``number`` is it under the name that its method has in these runs."""
    measure = MEASURES[number.metric]
    try:
        values = measure.compute(number, runs)
    except NotRun as reason:
        return printed_row(printed) | {"reason": str(reason), "data": runs.data}
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")
    row = printed_row(printed) | {"ours": float(np.mean(values)), "ours_std": deviation, "seeds": len(values)}
    row["by_seed"] = " ".join(f"{value:.10g}" for value in values)
    return row | {"data": runs.data} | judge(number, values, measure, runs)


def judge(number: Any, values: Any, measure: Measure, runs: PaperRuns) -> dict[str, Any]:
    """Difference and verdict of our values by seed, by the rule of the tables (despur/evidence/numbers/verdicts.py)."""
    used = [(run.dataset, run.substitute) for run in runs.artifact_runs]
    behind = runs.metrics[runs.metrics["paper_method"].isin([number.method, find_baseline(number)])]
    if refused := find_refusal(number.setting, used, behind) or measure.refuse():
        return dict(refused)
    decimals = len(f"{number.mean:g}".partition(".")[2])
    if measure.of_data:
        return compare_statistic(float(np.mean(values)), number.mean, decimals, substitute=False)
    noise, rounding = measure.test_variance(number, runs), 0.5 * 10**-decimals
    return judge_values(np.asarray(values, float), number.mean, None, SEEDS, noise, rounding, number.unit)
