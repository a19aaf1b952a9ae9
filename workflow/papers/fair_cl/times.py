"""Training times relative to CE's (Table 1)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from despur.orchestration.experiments import ArtifactRun

DATA = ["artifact", "paper_dataset", "used_dataset", "substitute", "data"]


def load_seconds(artifact_runs: Sequence[ArtifactRun]) -> dict[str, tuple[float, str]]:
    """Seconds of training and the machine of each run (its data, specification and seed)."""
    found = {}
    for file in {Path(folder) / "about.json" for artifact_run in artifact_runs for folder in artifact_run.folders}:
        about = json.loads(file.read_text())
        machine = f"{about.get('machine')}, {about.get('device')}"
        found |= {key: (run["seconds"], machine) for key, run in about["runs"].items()}
    return found


def compare_times(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Rows for seconds of training over CE's mean on the data, on the machine with most runs there; without methods
    that are fitted to CE's representations."""
    spent = load_seconds(artifact_runs)
    test = metrics[
        (metrics["split"] == "test") & (metrics["selection"] == "best") & (metrics["metric"] == "average_accuracy")
    ]
    rows = test[~test["paper_method"].isin(["inlp", "leace"])]
    own = [spent[f"{row.data}/{row.method}/s{row.seed}"] for row in rows.itertuples()]
    rows = rows.assign(metric="relative_time", value=[time for time, _ in own], machine=[machine for _, machine in own])
    keys = [rows[key] for key in DATA]
    rows = rows[rows["machine"] == rows.groupby(keys)["machine"].transform(lambda names: names.mode().iloc[0])]
    base = rows["value"].where(rows["paper_method"] == "ce").groupby([rows[key] for key in DATA]).transform("mean")
    return rows.assign(value=rows["value"] / base)
