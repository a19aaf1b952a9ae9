"""Trade-offs of accuracy and fairness (Table 1), which compare the methods that were run on the same data."""

import pandas as pd

from despur.evidence.runs.artifact_metrics import select_test
from despur.metrics.fairness import tradeoff
from despur.papers.fair_cl import selected_settings

# the methods that each compares, over which its maxima are
TRADEOFFS = {"tradeoff": selected_settings.PAPER_METHODS, "tradeoff_tuned": selected_settings.METHODS}
RUN = ["artifact", "paper_dataset", "used_dataset", "substitute", "data", "seed"]


def add_tradeoffs(table: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    """The table, and rows for the trade-offs on test data, seed by seed, where all methods were run that a
    trade-off compares."""
    test = select_test(table).query("group == ''")
    tables = [table]
    for name, among in TRADEOFFS.items():
        for _, part in test[test["paper_method"].isin(among)].groupby(RUN):
            if set(among) - set(part["paper_method"]):
                continue
            parts = [
                part[part["metric"] == metric].sort_values("paper_method")
                for metric in selected_settings.MEASURED_METRICS
            ]
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
    measured = metrics[metrics["metric"].isin(selected_settings.MEASURED_METRICS)].assign(seed=0)
    table = add_tradeoffs(measured.groupby(keys, as_index=False)["value"].mean(), ["value"])
    return table[table["metric"].isin(TRADEOFFS)].set_index(["metric", "paper_dataset", "data", "paper_method"])[
        "value"
    ]
