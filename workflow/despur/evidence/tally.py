"""What the papers' tables and claims say, gathered: every printed number once, every claim once, whether it was run
here or not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.claims.claim_format import read_claims
from despur.evidence.claims.judging import CLAIM_COLUMNS, judge_claims
from despur.evidence.numbers.printed import read_reported
from despur.evidence.numbers.tables import NUMBER_COLUMNS, ORIGIN
from despur.evidence.numbers.tables import TEXTS as NUMBER_TEXTS
from despur.evidence.numbers.verdicts import DECIDING, P_VALUES
from despur.evidence.verdicts import NumberVerdict
from despur.orchestration import artifact_files, experiments, paper_folders

NUMBER, CLAIM, COMPARISON = "number", "claim", "comparison"  # kinds of rows
PRINTED_KEY = ["artifact", "paper_dataset", "method", "setting", "metric"]
TEXTS = ("by_seed", "collapsed", *(name for name in NUMBER_TEXTS if name != "verdict"))
CLAIM_TEXT_COLUMNS = (
    *("data", "advice", "reason", "settings", "printed", "printed_note", "weakest", "contrasts"),
    *("measured", "tier", "primary", "collapsed"),
)
OURS = [name for name in NUMBER_COLUMNS if name not in (*PRINTED_KEY, "reported", "reported_std", "note")]
FLOATS = [
    *("reported", "reported_std", "shown", "ours", "ours_std", "difference", "low", "high", "seeds"),
    *P_VALUES.values(),
]
SCORECARD_COLUMNS = [
    *("paper", "kind_of_row", "place", "artifact", "paper_dataset", "method", "setting", "metric", "unit"),
    *("reported", "reported_std", "reported_seeds", "ours", "ours_std", "by_seed", "collapsed", "difference"),
    *(*DECIDING, *P_VALUES.values(), *ORIGIN),
    *("claim", "statement", "primary", "tier", "k", "estimate", "low", "high", "margin", "weakest"),
    *("p_holds", "p_fails", "printed", "seeds", "data", "substitute", "measured", "verdict", "reason", "advice"),
]


def list_printed(paper: str) -> pd.DataFrame:
    """Every number that a paper prints (reported/*.csv; not its hyper-parameters, nor what is lost in print): a row
    each, with its unit, its place in the paper and the table here that compares it."""
    artifacts = experiments.load_experiments(paper)["artifacts"]
    shown_by = {
        Path(file).stem: name
        for name, here in artifacts.items()
        for file in here.get("reads", [])
        if file.startswith("reported/") and artifact_files.find_module(name) == artifact_files.TABLE
    }
    table = read_reported(paper_folders.find_paper(paper) / "reported")
    shown = table["table"].map(lambda name: name if name in artifacts else shown_by.get(name, name))
    place = table["table"].map(lambda name: "text" if name == "prose" else artifact_files.format_label(name))
    names = {"dataset": "paper_dataset", "mean": "reported", "std": "reported_std"}
    return table.drop(columns="table").rename(columns=names).assign(artifact=shown, place=place)


def list_measured(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """The rows of a paper's finished tables that stand beside a printed number."""
    tables = [pd.DataFrame(columns=[*PRINTED_KEY, "shown", *OURS])]
    for artifact in list_made_artifacts(config, paper):
        files = [file for file in artifact_files.list_outputs(config, paper, artifact) if file.endswith(".csv")]
        for file in files if artifact_files.find_module(artifact) == artifact_files.TABLE else []:
            table = read_rows(Path(file)).rename(columns={"reported": "shown"})
            if {"paper_dataset", "shown", "verdict"} <= {*table}:
                shown = table[table["shown"].notna()].assign(artifact=artifact)
                tables.append(shown.reindex(columns=[*PRINTED_KEY, "shown", *OURS]))
    return pd.concat([table for table in tables if len(table)] or tables[:1], ignore_index=True)


def list_made_artifacts(config: Mapping[str, Any], paper: str) -> list[str]:
    """The artifacts of a paper that are finished; none if the configuration leaves the paper out."""
    if paper not in config["papers"]:
        return []
    return [
        name
        for name in artifact_files.list_artifacts(config, paper)
        if all(Path(f).exists() for f in artifact_files.list_outputs(config, paper, name))
    ]


def gather_numbers(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """A row for each printed number and each data set that is used for it, in the unit of the table."""
    table = list_printed(paper).merge(list_measured(config, paper), on=PRINTED_KEY, how="left")
    table = table.astype(dict.fromkeys(FLOATS, float))
    percent = (table["unit"] == "fraction") & ((table["shown"] / table["reported"] - 100).abs() < 1e-6)
    table.loc[percent, ["reported", "reported_std"]] *= 100
    table.loc[percent, "unit"] = "percent"
    table["verdict"] = table["verdict"].fillna(NumberVerdict.NOT_RUN).map(NumberVerdict)
    texts = [name for name in TEXTS if name in table]
    table[texts] = table[texts].fillna("")
    table["difference"] = table["difference"].round(12)  # what floats alone make is no difference
    return table.assign(paper=paper, seeds=table["seeds"].fillna(0).astype(int)).drop(columns="shown")


def gather_claims(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """A row for each claim, data set of the paper and data set that is used for it; what no finished table judges is
    not run here. ``kind_of_row``: CLAIM, or COMPARISON where no sentence of the paper states it."""
    file = paper_folders.find_paper(paper) / "claims.yaml"
    claims = {claim.name: claim for claim in read_claims(file)[0]}
    wanted = [(claim.name, ", ".join(datasets)) for claim in claims.values() for datasets in claim.rows]
    order = {row: i for i, row in enumerate(wanted)}
    judged = read_judged_claims(config, paper)
    missing = set(wanted).difference(zip(judged["claim"], judged["dataset"], strict=True))
    others = judge_claims(file, []) if missing else judged[:0]  # executing them on the printed numbers takes seconds
    others = others.loc[[row in missing for row in zip(others["claim"], others["dataset"], strict=True)]]
    table = pd.concat([judged, others], ignore_index=True) if len(judged) else others
    table = table.assign(order=[order.get(row, -1) for row in zip(table["claim"], table["dataset"], strict=True)])
    table = table[table["order"] >= 0].sort_values("order", kind="stable")  # without claims that left the file
    words = {name: table[name].fillna("") for name in CLAIM_TEXT_COLUMNS}
    counts = {name: table[name].fillna(0).astype(int) for name in ("seeds", "k")}
    digits = {name: table[name].astype(float).round(12) for name in ("estimate", "low", "high")}  # not last bits
    table = table.assign(paper=paper, substitute=table["substitute"].eq(True), **words, **counts, **digits)
    artifacts = {name: claim.artifact for name, claim in claims.items()}
    kinds = {name: COMPARISON if claim.ours else CLAIM for name, claim in claims.items()}
    table = table.assign(artifact=table["claim"].map(artifacts), kind_of_row=table["claim"].map(kinds))
    return table.drop(columns="order").reset_index(drop=True)


def read_rows(file: Path) -> pd.DataFrame:
    """A finished table; without columns where it has no rows."""
    try:
        return pd.read_csv(file, dtype={"setting": str})
    except pd.errors.EmptyDataError:
        return pd.DataFrame()


def read_judged_claims(config: Mapping[str, Any], paper: str) -> pd.DataFrame:
    """The finished table of a paper's claims; no rows where there is none."""
    if "claims" not in list_made_artifacts(config, paper):
        return pd.DataFrame(columns=CLAIM_COLUMNS)
    table, *_ = artifact_files.list_outputs(config, paper, "claims")
    return pd.read_csv(Path(table).with_suffix(".csv")).reindex(columns=CLAIM_COLUMNS)


def join_tables(tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """The rows of a scorecard: one for each printed number, claim and comparison, and each data set used for it.
    ``tables``: numbers and claims of each paper."""
    parts = []
    for numbers, claims in tables.values():
        parts.append(numbers.assign(kind_of_row=NUMBER))
        parts.append(claims.rename(columns={"dataset": "paper_dataset"}))
    return pd.concat([part.reindex(columns=SCORECARD_COLUMNS).astype(object) for part in parts])
