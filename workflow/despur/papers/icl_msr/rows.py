"""Metrics of this paper's runs under the paper's names."""

from collections.abc import Callable, Sequence
from functools import partial

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics, rows_where
from despur.evidence.runs.changed_settings import name_run
from despur.evidence.runs.run_files import describe_machine, find_run, load_upstream
from despur.orchestration.experiments import ArtifactRun
from despur.papers.icl_msr.method_names import SETTINGS, add_names
from despur.specs.names import drop_setting

METRICS = {"average_accuracy": "linear_top1", "top5_accuracy": "linear_top5", "knn5_accuracy": "knn5_top1"}
POINT = ["train", "label_fraction", *SETTINGS]  # columns that tell runs of one printed method apart
OF_TIME = ["used_dataset", "data", "method", "seed"]  # columns by which rows have a time
REST = {"weight": 1.0, "uniformity": 1.0, "vectors": 6}  # Fig. 5: the values of the settings that do not vary


def load_runs(
    artifact_runs: Sequence[ArtifactRun], read: Callable[[Sequence[ArtifactRun]], pd.DataFrame] = load_metrics
) -> pd.DataFrame:
    """The rows that ``read`` gives of the last step (selection "best"), each run once in each artifact."""
    table = read(artifact_runs)
    if not len(table):
        return pd.DataFrame(columns=list(dict.fromkeys([*table.columns, "method", *POINT])))
    table = table[table["selection"] == "best"] if "selection" in table else table
    table = add_names(table).assign(used_dataset=table["used_dataset"].map(partial(drop_setting, key="train")))
    if "metric" in table:
        table = table.assign(metric=table["metric"].replace(METRICS))
    once = ("artifact", "paper_dataset", "data", "method", "seed", "split", "metric", "group")
    return table.drop_duplicates([column for column in once if column in table])


def load_accuracies(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Test accuracies of all runs, percent: split ``test``, or ``test_foreground`` without background."""
    table = load_runs(artifact_runs)
    rows = rows_where(table, metric=[*METRICS.values()], group="", split=["test", "test_foreground"])
    return rows.assign(accuracy=100 * rows["value"])


def load_seconds(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Seconds that each run's stage-1 model was trained, and on which ``machine``, by :data:`OF_TIME`."""
    times = {}
    for artifact_run in artifact_runs:
        used_dataset = drop_setting(artifact_run.dataset, "train")
        for key, upstream in load_upstream(artifact_run).items():
            if about := upstream.get(f"stage1/{find_run(key).find_upstream_key('stage1')}"):
                times[used_dataset, *name_run(artifact_run, key)[1:]] = (about["seconds"], describe_machine(about))
    return pd.DataFrame([(*run, *time) for run, time in times.items()], columns=[*OF_TIME, "seconds", "machine"])
