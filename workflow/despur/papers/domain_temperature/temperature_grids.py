"""Tables 3 to 8: accuracies over tau_alpha and tau_beta, printed and ours, with the selected setting."""

from pathlib import Path

import pandas as pd

from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.tables import compare
from despur.evidence.runs.artifact_metrics import rows_where
from despur.papers.domain_temperature.selection import (
    SPLITS,
    keep_selected,
    rename_as_printed,
    select_settings,
)

ACCURACIES = {"validation_accuracy": "Validation", "test_ood_accuracy": "Test-OOD", "test_id_accuracy": "Test-ID"}
GRID = ["tau_alpha", "tau_beta"]
TABLES = {  # of each method: validation, Test-OOD, Test-ID
    "domain_weighted_negatives": (3, 4, 5),
    "domain_weighted_pairs": (6, 7, 8),
}
SEEDS = 5  # Sec. 3


def load_reported(name: str) -> pd.DataFrame:
    """Printed numbers of a table, fractions as percentages."""
    table = pd.read_csv(Path(__file__).parent / f"reported/{name}.csv")
    return table.assign(mean=table["mean"] * table["unit"].map({"fraction": 100.0}).fillna(1.0))


def compare_accuracies(printed: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Printed accuracies beside ours."""
    return compare(printed, rename_as_printed(runs), SEEDS, SPLITS)


def compare_grids(runs: pd.DataFrame) -> pd.DataFrame:
    """A row for each printed number of each table, and for each setting of this run that the paper did not try.

    ``selected``: on validation data, by this run. ``selected_by_paper``: by the paper."""
    parts = []
    for method, number in ((method, number) for method, numbers in TABLES.items() for number in numbers):
        printed, mine = load_reported(f"table_{number}"), rows_where(runs, paper_method=method)
        table = compare_accuracies(pd.concat([printed, settings_not_printed(printed, mine)], ignore_index=True), mine)
        settings = [parse_settings(text) for text in table["setting"]]
        parts.append(table.assign(table=number, **{key: [float(point[key]) for point in settings] for key in GRID}))
    table = pd.concat(parts, ignore_index=True)
    selected = keep_selected(runs, select_settings(runs))[["data", "paper_method", *GRID]].drop_duplicates()
    keys = pd.MultiIndex.from_frame(table[["data", "method", *GRID]])
    by_paper = table["note"].fillna("").str.startswith("selected")
    return table.assign(selected=keys.isin(pd.MultiIndex.from_frame(selected)), selected_by_paper=by_paper)


def settings_not_printed(printed: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows, without a number, for the settings of ours that are not in the paper's grid."""
    printed_points = {(float(s["tau_alpha"]), float(s["tau_beta"])) for s in map(parse_settings, printed["setting"])}
    ours = runs[[*GRID]].drop_duplicates().itertuples(index=False)
    extra = [
        f"sigma=50;label_fraction=0.01;tau_alpha={a:g};tau_beta={b:g}" for a, b in ours if (a, b) not in printed_points
    ]
    return printed.iloc[[0] * len(extra)].assign(setting=extra, mean=float("nan"), note="")


def format_grid(table: pd.DataFrame) -> pd.DataFrame:
    """A grid as people read it: a row for each tau_alpha, a column for each tau_beta, printed / ours; an asterisk:
    selected."""
    printed = map(format_accuracy, table["reported"], table["selected_by_paper"])
    ours = map(format_accuracy, table["ours"], table["selected"])
    data = table.groupby("table")["data"].transform(lambda names: ", ".join(names.dropna().unique()) or "not run here")
    both = [f"{a} / {b}" for a, b in zip(printed, ours, strict=True)]
    text = table.assign(text=both, data=data, accuracy=table["metric"].map(ACCURACIES))
    rows = ["table", "method", "accuracy", "data", "tau_alpha"]
    wide = text.pivot_table(index=rows, columns="tau_beta", values="text", aggfunc="; ".join, sort=False)
    wide.columns = [f"tau_beta = {level:g}" for level in wide.columns]
    return wide.fillna("").reset_index()


def format_accuracy(percent: float, selected: bool) -> str:
    """``92.3*``: selected; a dash for nothing."""
    return "–" if pd.isna(percent) else f"{percent:.1f}{'*' if selected else ''}"
