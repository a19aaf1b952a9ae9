"""What sentences and claims of the paper speak of: runs of Table 1, hours of training (Table A.12), gaps of classes,
the data."""

import math
from collections.abc import Callable, Sequence

import pandas as pd

from despur.evidence.claims.judging import load_measurements
from despur.evidence.runs.artifact_metrics import identify_rows, load_metrics, select_test
from despur.evidence.runs.changed_settings import describe_changes, describe_shortening, name_run
from despur.evidence.runs.data_counts import measure_data
from despur.evidence.runs.run_files import HERE, describe_machine, is_record, load_abouts
from despur.orchestration.experiments import ArtifactRun
from despur.storage.abouts import About

STAGES = {"erm": 1, "cnc": 2}
METRICS_OF_CLASSES = ["class_average_accuracy", "class_worst_group_accuracy"]
SIZES = ["paper_dataset", "used_dataset", "data", "substitute", "paper_method", "selection", "group", "seed", "split"]


def load_claim_metrics(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics and resamples of an artifact's runs; of Table A.12 the hours of each stage instead."""
    if {artifact_run.artifact for artifact_run in artifact_runs} == {"table_a12"}:
        return measure_hours(artifact_runs), pd.DataFrame()
    return load_measurements(artifact_runs)


def measure_hours(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """A row for each training of a stage: its hours, on the machine with most of them on its data."""
    table = measure_abouts(artifact_runs, "train_hours", lambda about: about["seconds"] / 3600)
    if not len(table):
        return table
    most = table.groupby("used_dataset")["machine"].transform(lambda names: names.mode().iloc[0])
    table = table.assign(stage=table["paper_method"].map(STAGES), split="test")
    return table[table["machine"] == most]


def measure_abouts(artifact_runs: Sequence[ArtifactRun], metric: str, read: Callable[[About], float]) -> pd.DataFrame:
    """A row for each training: what ``read`` takes from its about.json, as a metric of the training split."""
    rows = []
    for artifact_run in artifact_runs:
        sources = dict(artifact_run.sources)
        for key, about in load_abouts(artifact_run).items():
            _, data, method, seed = name_run(artifact_run, key)
            rows.append(
                {
                    **identify_rows(artifact_run),
                    "data": data,
                    "method": method,
                    "changed": describe_changes(artifact_run, data, method),
                    "shortened": describe_shortening(artifact_run, data, method),
                    "seed": seed,
                    "split": "train",
                    "selection": "best",
                    "metric": metric,
                    "group": "",
                    "value": read(about),
                    "machine": describe_machine(about),
                    "measured": describe_machine(about) if is_record(sources.get(key, "")) else HERE,
                }
            )
    return pd.DataFrame(rows)


def load_sentence_metrics(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics of the runs of Table 1 and of sentences, and what is derived, timed and counted beside them."""
    metrics = load_metrics([run for run in artifact_runs if run.artifact in ("table_1", "prose")])
    of_jtt = select_stage(artifact_runs, "jtt", "runs")
    # how many times the most frequent wrong sample occurs; NaN where a run does not tell
    jtt = measure_abouts(of_jtt, "largest_factor", lambda about: float(about.get("largest_factor", math.nan)))
    erm = measure_hours(select_stage(artifact_runs, "erm", "stage1"))
    data = measure_data(artifact_runs)
    tables = [metrics, jtt, erm, measure_gap_reductions(metrics), data, measure_minorities(data)]
    return pd.concat(tables, ignore_index=True), pd.DataFrame()


def select_stage(artifact_runs: Sequence[ArtifactRun], method: str, stage: str) -> list[ArtifactRun]:
    """The runs of a method in a stage."""
    runs = [run for run in artifact_runs if run.paper_method == method]
    return [run for run in runs if run.result.stage == stage]


def measure_gap_reductions(metrics: pd.DataFrame) -> pd.DataFrame:
    """``per_class_gap_reduction``: the share by which CNC's gap within classes is below that of each ``baseline``. A
    gap is average minus worst-group accuracy, mean over classes and seeds."""
    rows = select_test(metrics, metric=METRICS_OF_CLASSES)
    data = ["paper_dataset", "used_dataset", "substitute"]
    means = rows.groupby([*data, "paper_method", "metric"])["value"].mean().unstack()
    means = means.reindex(columns=METRICS_OF_CLASSES)
    gaps = (means.iloc[:, 0] - means.iloc[:, 1]).unstack("paper_method").reindex(columns=["cnc", "erm", "jtt"])
    others = gaps[["erm", "jtt"]].rename_axis(columns="baseline")
    shares = others.rdiv(gaps["cnc"], axis=0).where(others > 0)
    reductions = (1 - shares).stack().rename("value").reset_index()
    same = {"paper_method": "cnc", "metric": "per_class_gap_reduction", "split": "test", "selection": "best"}
    return reductions.assign(**same, data=reductions["used_dataset"], group="", seed=0)


def measure_minorities(data: pd.DataFrame) -> pd.DataFrame:
    """``minority_share``: of samples of a split without the most frequent attribute of their class."""
    if not len(data):
        return data
    sizes = data[data["metric"] == "group_size"]
    by_class = sizes.groupby([*SIZES, "class"])["value"].agg(["max", "sum"])
    both = by_class.groupby(SIZES).sum()
    return (1 - both["max"] / both["sum"]).rename("value").reset_index().assign(metric="minority_share")
