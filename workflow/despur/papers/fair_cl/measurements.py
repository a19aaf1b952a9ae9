"""All that Table 1 and the claims compare: metrics at the selected settings, trade-offs and training times."""

from collections.abc import Sequence

import pandas as pd

from despur.evidence.runs.artifact_metrics import rows_where, select_test
from despur.evidence.runs.run_files import describe_machine, load_abouts_of_rows
from despur.metrics.fairness import tradeoff
from despur.orchestration.experiments import ArtifactRun
from despur.papers.fair_cl import selected_settings
from despur.storage.finished_runs import list_bootstrap_columns

# the methods that each compares, over which its maxima are
TRADEOFFS = {"tradeoff": selected_settings.PAPER_METHODS, "tradeoff_tuned": selected_settings.METHODS}
DATA = ["artifact", "paper_dataset", "used_dataset", "substitute", "data"]
RUN = [*DATA, "seed"]


def load_measurements(artifact_runs: Sequence[ArtifactRun]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Metrics at the selected settings with trade-offs and relative training times, and bootstrap values of all but
    times."""
    selected, resamples = selected_settings.load_selected(artifact_runs)
    if not len(selected):
        return selected, resamples
    metrics = add_tradeoffs(selected, ["value"])
    metrics = pd.concat([metrics, compare_times(metrics, artifact_runs)], ignore_index=True)
    if len(resamples):
        resamples = add_tradeoffs(resamples, list_bootstrap_columns(resamples))
    return name_models_of_all_classes(metrics), name_models_of_all_classes(resamples)


def add_tradeoffs(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table, and rows for the trade-offs on test data, seed by seed, where all methods were run that a
    trade-off compares."""
    test = select_test(table, group="")
    tables = [table]
    for name, among in TRADEOFFS.items():
        for _, part in test[test["paper_method"].isin(among)].groupby(RUN):
            if set(among) - set(part["paper_method"]):
                continue
            metrics = selected_settings.MEASURED_METRICS
            parts = [rows_where(part, metric=metric).sort_values("paper_method") for metric in metrics]
            values = tradeoff(*(rows[columns].to_numpy(float) for rows in parts))
            derived = {"metric": name, **join_texts(part), **dict(zip(columns, values.T, strict=True))}
            tables.append(parts[0].assign(**derived))
    return pd.concat(tables, ignore_index=True)


def join_texts(part: pd.DataFrame) -> dict[str, str]:
    """What the runs that a trade-off compares say of changed settings and of shortened training."""
    columns = [name for name in ("changed", "shortened") if name in part]
    return {name: ";".join(sorted(filter(None, part[name].dropna().unique()))) for name in columns}


def compare_means(metrics: pd.DataFrame) -> pd.Series:
    """Trade-offs of means over seeds, as in the paper: by metric, data set and method."""
    keys = [*RUN, "paper_method", "split", "selection", "group", "metric"]
    measured = rows_where(metrics, metric=selected_settings.MEASURED_METRICS).assign(seed=0)
    table = add_tradeoffs(measured.groupby(keys, as_index=False)["value"].mean(), ["value"])
    tradeoffs = rows_where(table, metric=[*TRADEOFFS])
    return tradeoffs.set_index(["metric", "paper_dataset", "data", "paper_method"])["value"]


def compare_times(metrics: pd.DataFrame, artifact_runs: Sequence[ArtifactRun]) -> pd.DataFrame:
    """Rows for seconds of training over CE's mean on the data, on the machine with most runs there; without methods
    that are fitted to CE's representations, and without substitutes, whose short runs measure a machine's load."""
    abouts = load_abouts_of_rows(artifact_runs)
    test = select_test(metrics, metric="average_accuracy")
    rows = test[~test["paper_method"].isin(["inlp", "leace"]) & ~test["substitute"].astype(bool)]
    if not len(rows):
        return rows
    run_abouts = [abouts[row.used_dataset, row.data, row.method, row.seed] for row in rows.itertuples()]
    seconds, machines = [about["seconds"] for about in run_abouts], [*map(describe_machine, run_abouts)]
    rows = rows.assign(metric="relative_time", value=seconds, machine=machines)
    keys = [rows[key] for key in DATA]
    rows = rows[rows["machine"] == rows.groupby(keys)["machine"].transform(lambda names: names.mode().iloc[0])]
    base = rows["value"].where(rows["paper_method"] == "ce").groupby([rows[key] for key in DATA]).transform("mean")
    return rows.assign(value=rows["value"] / base)


def name_models_of_all_classes(table: pd.DataFrame) -> pd.DataFrame:
    """For Table 2: rows of models of all classes of Bios are put under the data set of the two classes."""
    of_pair = rows_where(table, artifact="table_2", paper_dataset="bios_nurse_surgeon")["used_dataset"].unique()
    everyone = (table["artifact"] == "table_2") & (table["paper_dataset"] == "bios")
    if len(of_pair) != 1:
        return table
    rows = table[everyone]
    moved = rows.assign(paper_dataset="bios_nurse_surgeon", used_dataset=of_pair[0])
    moved["paper_method"] += "_all_classes"
    return pd.concat([table[~everyone], moved], ignore_index=True)
