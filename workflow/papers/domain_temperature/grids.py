"""Tables 3 to 8: accuracies over tau_alpha and tau_beta, printed and ours, with the selected setting."""

from collections.abc import Callable, Mapping

import pandas as pd
from sweep import at, choose, selected

from despur.reporting.printed import printed_settings

MEASURES = {"validation_accuracy": "Validation", "test_ood_accuracy": "Test-OOD", "test_id_accuracy": "Test-ID"}
GRID = ["tau_alpha", "tau_beta"]


def unprinted(printed: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Rows, without a number, for the settings of ours that the paper's grid has not."""
    known = {(float(s["tau_alpha"]), float(s["tau_beta"])) for s in map(printed_settings, printed["setting"])}
    own = runs[[*GRID]].drop_duplicates().itertuples(index=False)
    extra = [f"sigma=50;label_fraction=0.01;tau_alpha={a:g};tau_beta={b:g}" for a, b in own if (a, b) not in known]
    return printed.iloc[[0] * len(extra)].assign(setting=extra, mean=float("nan"), note="")


def table_3_8(
    reported: Mapping[int, pd.DataFrame],
    runs: pd.DataFrame,
    compare: Callable[[pd.DataFrame, pd.DataFrame], pd.DataFrame],
) -> pd.DataFrame:
    """A row for each cell of each table, and for what this run tried besides; ``selected``: on validation data, by
    this run."""
    chosen = selected(runs, choose(runs))[["data", "printed", *GRID]].drop_duplicates()
    parts = []
    for number, printed in reported.items():
        mine = at(runs, printed=printed["method"].iloc[0])
        table = compare(pd.concat([printed, unprinted(printed, mine)], ignore_index=True), mine)
        result = [printed_settings(text) for text in table["setting"]]
        parts.append(table.assign(table=number, **{key: [float(own[key]) for own in result] for key in GRID}))
    table = pd.concat(parts, ignore_index=True)
    keys = pd.MultiIndex.from_frame(table[["data", "method", *GRID]])
    picked = keys.isin(pd.MultiIndex.from_frame(chosen))
    return table.assign(selected=picked, selected_by_paper=table["note"].fillna("").str.startswith("selected"))


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The grids as people read them: a row for each tau_alpha, a column for each tau_beta, printed / ours; an
    asterisk: selected."""
    star = {True: "*", False: ""}
    number = [
        "–" if pd.isna(v) else f"{v:.1f}{star[s]}"
        for v, s in zip(table["reported"], table["selected_by_paper"], strict=True)
    ]
    ours = ["–" if pd.isna(v) else f"{v:.1f}{star[s]}" for v, s in zip(table["ours"], table["selected"], strict=True)]
    data = table.groupby("table")["data"].transform(lambda own: ", ".join(own.dropna().unique()) or "not run here")
    text = table.assign(
        text=[f"{a} / {b}" for a, b in zip(number, ours, strict=True)],
        data=data,
        accuracy=table["metric"].map(MEASURES),
    )
    wide = text.pivot_table(
        index=["table", "method", "accuracy", "data", "tau_alpha"],
        columns="tau_beta",
        values="text",
        aggfunc="; ".join,
        sort=False,
    )
    wide.columns = [f"tau_beta = {level:g}" for level in wide.columns]
    return wide.fillna("").reset_index()
