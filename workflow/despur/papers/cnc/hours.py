"""Hours of training as measurements (Table A.12), which claims compare."""

from collections.abc import Callable, Sequence

import pandas as pd

from despur.evidence.claims.judging import load_measurements
from despur.evidence.runs.artifact_metrics import identify_rows
from despur.evidence.runs.changed_settings import describe_changes, describe_shortening, name_run
from despur.evidence.runs.run_files import HERE, describe_machine, is_record, load_abouts
from despur.orchestration.experiments import ArtifactRun
from despur.storage.abouts import About

STAGES = {"erm": 1, "cnc": 2}


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
