"""Metrics of this paper's runs under the paper's names."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import pandas as pd

from despur.evidence.runs.artifact_metrics import load_metrics
from despur.evidence.runs.run_files import describe_machine, find_run, load_upstream
from despur.orchestration import experiments
from despur.orchestration.experiments import ArtifactRun
from despur.specs.names import drop_setting, parse
from despur.specs.resolution import resolve

METRICS = {"average_accuracy": "linear_top1", "top5_accuracy": "linear_top5", "knn5_accuracy": "knn5_top1"}
SETTINGS = {
    "weight": "lambda",
    "uniformity": "gamma",
    "vectors": "n",
    "second_order": "second_order",
    "epochs": "epochs",
}
POINT = ["train", "label_fraction", *SETTINGS]  # columns that tell runs of one printed method apart
REST = {"weight": 1.0, "uniformity": 1.0, "vectors": 6}  # Fig. 5: the values of the settings that do not vary


@cache
def list_printed_names() -> dict[str, str]:
    """The paper's names for the runs on each stage-1 method."""
    named = experiments.load_experiments("icl_msr")["methods"].items()
    return {resolve("methods", text).points[0].components["stage1"].base_name: name for name, text in named}


@cache
def read_settings(data: str, method: str) -> dict[str, Any]:
    """The settings that tables, figures and claims use, whether a sweep varies it or not."""
    (point,) = resolve("methods", method, parse(data)[0]).points
    base = point.components["stage1"]
    settings = {name: base.settings.get(key) for name, key in SETTINGS.items()}
    train = resolve("datasets", data).points[0].settings.get("train", "full")
    return {
        "paper_method": list_printed_names()[base.base_name],
        "train": train,
        "label_fraction": point.settings.get("label_fraction"),
        **settings,
    }


def load_runs(
    artifact_runs: Sequence[ArtifactRun], read: Callable[[Sequence[ArtifactRun]], pd.DataFrame] = load_metrics
) -> pd.DataFrame:
    """The rows that ``read`` gives of the last step (selection "best"), each run once in each artifact."""
    table = read(artifact_runs)
    if not len(table):
        return pd.DataFrame(columns=list(dict.fromkeys([*table.columns, "method", *POINT])))
    table = table[table["selection"] == "best"] if "selection" in table else table
    about = {pair: read_settings(*pair) for pair in set(zip(table["data"], table["method"], strict=True))}
    columns = pd.DataFrame(
        [about[pair] for pair in zip(table["data"], table["method"], strict=True)], index=table.index
    )
    table = table.assign(**columns, used_dataset=table["used_dataset"].map(partial(drop_setting, key="train")))
    if "metric" in table:
        table = table.assign(metric=table["metric"].replace(METRICS))
    once = [
        c for c in ("artifact", "paper_dataset", "data", "method", "seed", "split", "metric", "group") if c in table
    ]
    return table.drop_duplicates(once)


def load_accuracies(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Test accuracies of all runs, percent: split ``test``, or ``test_foreground`` without background."""
    table = load_runs(artifact_runs)
    rows = table[
        table["metric"].isin(METRICS.values())
        & (table["group"] == "")
        & table["split"].isin(["test", "test_foreground"])
    ]
    return rows.assign(accuracy=100 * rows["value"])


def load_seconds(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Seconds that each stage-1 model was trained: ``data``, ``method``, ``seed``, ``seconds``, and on which
    ``machine``."""
    rows = []
    for key, upstream in load_upstream(artifact_runs).items():
        run = find_run(key)
        if about := upstream.get(f"stage1/{run.find_upstream_key('stage1')}"):
            run_names = {"data": run.data.name, "method": run.spec.name, "seed": run.seed}
            rows.append(run_names | {"seconds": about["seconds"], "machine": describe_machine(about)})
    return pd.DataFrame(rows, columns=["data", "method", "seed", "seconds", "machine"])
