"""The settings that validation data select from the sweeps of Figure 2, one for each method, and the quantities that
the paper derives from them."""

import json
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from despur.metrics.fairness import tradeoff
from despur.metrics.selection import select, sweep_means
from despur.orchestration.experiments import ArtifactRun
from despur.reporting.printed import same
from despur.reporting.tables import load_metrics, load_resamples

VARIANTS = {  # methods that share the job of another one: that job, and the setting and value that tell them apart
    "adv_single": ("adv", "discriminators", "1"),
    "con_ce_scl": ("con", "parts", "scl"),
    "con_ce_fcl": ("con", "parts", "fcl"),
}
PAPER = ["ce", "inlp", "adv", "con_ft", "con"]
TUNED = ["leace", "adv_single"]
METHODS = [*PAPER, *TUNED]
TRADEOFFS = {"tradeoff": PAPER, "tradeoff_tuned": METHODS}  # the methods that each compares, over which its maxima are
MARGIN = 0.01  # of accuracy: the paper selects "as close as possible to the best-achievable value" and prints no number
MEASURED = ["average_accuracy", "gap", "leakage_representations", "leakage_logits"]
MODELS = ["artifact", "paper_dataset", "used_dataset", "substitute", "data", "seed"]


def variants(table: pd.DataFrame) -> pd.DataFrame:
    """The metrics with a method name of its own for each method that shares a job."""
    for name, (method, setting, value) in VARIANTS.items():
        if setting in table:
            mine = table[setting].map(lambda own, value=value: same(own, value))
            table.loc[mine & (table["paper_method"] == method), "paper_method"] = name
    return table


def everything(artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Metrics at every setting."""
    return variants(load_metrics(artifact_runs))


def selected(metrics: pd.DataFrame) -> pd.DataFrame:
    """The selected setting of each method on each data set: the lowest GAP on validation data among the settings within
    MARGIN of the method's best accuracy."""
    keys = ["artifact", "paper_dataset", "used_dataset", "paper_method"]
    rows = [(*key, *select(sweep_means(part, ["method"], "val"), margin=MARGIN)) for key, part in metrics.groupby(keys)]
    return pd.DataFrame(rows, columns=[*keys, "method"])


def load(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics at the selected settings, and their bootstrap values; with trade-off and relative training time.

    In Table 2, methods that were trained on all classes get a name of their own (``con_multiclass``) and the data
    set of the two classes."""
    metrics, resamples = everything(artifact_runs), variants(load_resamples(artifact_runs))
    if not len(metrics):
        return metrics, resamples
    choice = selected(metrics)
    metrics = with_tradeoffs(metrics.merge(choice), ["value"])
    metrics = pd.concat([metrics, relative_times(metrics, artifact_runs)], ignore_index=True)
    if len(resamples):
        resamples = with_tradeoffs(resamples.merge(choice), [c for c in resamples if c.isdigit()])
    return beside_the_pair(metrics), beside_the_pair(resamples)


def with_tradeoffs(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table, and rows for the trade-offs on test data, seed by seed, where all methods were run that a
    trade-off compares."""
    test = table[(table["split"] == "test") & (table["selection"] == "best") & (table["group"] == "")]
    found = [table]
    for name, among in TRADEOFFS.items():
        for _, part in test[test["paper_method"].isin(among)].groupby(MODELS):
            if set(among) - set(part["paper_method"]):
                continue
            parts = [part[part["metric"] == metric].sort_values("paper_method") for metric in MEASURED]
            values = tradeoff(*(own[columns].to_numpy(float) for own in parts))
            found.append(parts[0].assign(metric=name, **dict(zip(columns, values.T, strict=True))))
    return pd.concat(found, ignore_index=True)


def of_means(metrics: pd.DataFrame) -> pd.Series:
    """Trade-offs of means over seeds, as in the paper: by metric, data set and method."""
    keys = [*MODELS, "paper_method", "split", "selection", "group", "metric"]
    measured = metrics[metrics["metric"].isin(MEASURED)].assign(seed=0)
    table = with_tradeoffs(measured.groupby(keys, as_index=False)["value"].mean(), ["value"])
    return table[table["metric"].isin(TRADEOFFS)].set_index(["metric", "paper_dataset", "data", "paper_method"])[
        "value"
    ]


def seconds(artifact_runs: Sequence[ArtifactRun]) -> dict[str, tuple[float, str]]:
    """Seconds of training and the machine of each run (its data, specification and seed)."""
    found = {}
    for file in {Path(folder) / "about.json" for artifact_run in artifact_runs for folder in artifact_run.folders}:
        about = json.loads(file.read_text())
        machine = f"{about.get('machine')}, {about.get('device')}"
        found |= {key: (run["seconds"], machine) for key, run in about["runs"].items()}
    return found


def relative_times(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Rows for seconds of training over CE's mean on the data, on the machine with most runs there; without methods
    that are fitted to CE's representations."""
    spent = seconds(artifact_runs)
    test = metrics[
        (metrics["split"] == "test") & (metrics["selection"] == "best") & (metrics["metric"] == "average_accuracy")
    ]
    rows = test[~test["paper_method"].isin(["inlp", "leace"])]
    own = [spent[f"{row.data}/{row.method}/s{row.seed}"] for row in rows.itertuples()]
    rows = rows.assign(metric="relative_time", value=[time for time, _ in own], machine=[machine for _, machine in own])
    keys = [rows[key] for key in MODELS[:-1]]
    rows = rows[rows["machine"] == rows.groupby(keys)["machine"].transform(lambda names: names.mode().iloc[0])]
    base = (
        rows["value"].where(rows["paper_method"] == "ce").groupby([rows[key] for key in MODELS[:-1]]).transform("mean")
    )
    return rows.assign(value=rows["value"] / base)


def beside_the_pair(table: pd.DataFrame) -> pd.DataFrame:
    """For Table 2: rows of models of all classes of Bios are put under the data set of the two classes."""
    of_pair = table.loc[
        (table["artifact"] == "table_2") & (table["paper_dataset"] == "bios_nurse_surgeon"), "used_dataset"
    ].unique()
    everyone = (table["artifact"] == "table_2") & (table["paper_dataset"] == "bios")
    if len(of_pair) != 1:
        return table
    own = table[everyone]
    moved = own.assign(
        paper_method=own["paper_method"] + "_multiclass", paper_dataset="bios_nurse_surgeon", used_dataset=of_pair[0]
    )
    return pd.concat([table[~everyone], moved], ignore_index=True)
