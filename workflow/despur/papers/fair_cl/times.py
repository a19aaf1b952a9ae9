"""Training times relative to CE's (Table 1)."""

from collections.abc import Sequence

import pandas as pd

from despur.evidence.runs.artifact_metrics import select_test
from despur.evidence.runs.run_files import describe_machine, load_abouts_of_rows
from despur.orchestration.experiments import ArtifactRun

DATA = ["artifact", "paper_dataset", "used_dataset", "substitute", "data"]


def compare_times(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Rows for seconds of training over CE's mean on the data, on the machine with most runs there; without methods
    that are fitted to CE's representations."""
    abouts = load_abouts_of_rows(artifact_runs)
    test = select_test(metrics).query("metric == 'average_accuracy'")
    rows = test[~test["paper_method"].isin(["inlp", "leace"])]
    run_abouts = [abouts[row.used_dataset, row.data, row.method, row.seed] for row in rows.itertuples()]
    rows = rows.assign(
        metric="relative_time",
        value=[about["seconds"] for about in run_abouts],
        machine=list(map(describe_machine, run_abouts)),
    )
    keys = [rows[key] for key in DATA]
    rows = rows[rows["machine"] == rows.groupby(keys)["machine"].transform(lambda names: names.mode().iloc[0])]
    base = rows["value"].where(rows["paper_method"] == "ce").groupby([rows[key] for key in DATA]).transform("mean")
    return rows.assign(value=rows["value"] / base)
