"""The page that says where the time of the bundled run goes."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from catalog.markdown import REFERENCE, code, escape, page, table

RUN = REFERENCE / "ten_seeds"
INTRODUCTION = (
    f"After this page you know how long the papers, stages and slowest jobs of the reference run `{RUN.name}` took "
    "when they were last kept (`make reference`). `make` trains one seed.\n\n"
    "The seconds of a job are those from its start to its end, as Snakemake recorded them; other work on the machine "
    "makes them longer. *Own seconds* are those of training and inference themselves, without the start of a process, "
    "reading and writing. Jobs that several papers read count in each of them."
)


def build_times(run: Path = RUN) -> str:
    """The page: of each paper that is kept the shares of stages, and the critical path."""
    papers = [part for file in sorted(run.glob("*/times.csv")) for part in describe_paper(file)]
    parts = papers or ["No times are kept yet: `make reference` writes them."]
    return page("Where the time goes", INTRODUCTION, *parts, "[All pages](index.md)")


def describe_paper(file: Path) -> Iterator[str]:
    """A heading, a sentence and two tables of one paper's times."""
    times = pd.read_csv(file, keep_default_na=False, na_values=[""])
    total = times[times["kind"] == "all"].iloc[0]
    training = times[(times["kind"] == "stage") & times["name"].isin(["stage 1", "stage 2"])]["seconds"].sum()
    path = times[times["kind"] == "critical path"]
    yield f"## {file.parent.name}"
    yield (
        f"{total['jobs']:.0f} jobs took {total['seconds']:,.0f} seconds in all. Training (stages 1 and 2) was "
        f"{training / total['seconds']:.0%} of them."
    )
    yield describe_shares(times[times["kind"] == "stage"], total["seconds"])
    yield (
        "Critical path: each of these jobs reads what the one before it made. No number of cores is faster than their "
        f"sum, {path['seconds'].sum():,.0f} seconds."
    )
    yield describe_shares(path, total["seconds"])


def describe_shares(rows: pd.DataFrame, total: float) -> str:
    """A table of jobs, seconds, share of all seconds, and own seconds where they are known."""
    shown = [
        [
            code(row.label) if "/" in row.label else escape(row.label),
            f"{row.jobs:.0f}",
            f"{row.seconds:,.0f}",
            f"{row.seconds / total:.0%}",
            "" if pd.isna(row.own_seconds) else f"{row.own_seconds:,.0f}",
        ]
        for row in rows.rename(columns={"name": "label"}).itertuples()
    ]
    return table(["", "jobs", "seconds", "share", "own seconds"], shown)
