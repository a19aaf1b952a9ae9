"""The page that says where the time of the bundled run goes."""

from pathlib import Path

import pandas as pd

from catalog.markdown import REFERENCE, code, escape, page, table

RUN = max(REFERENCE.glob("*/times.csv")).parent
INTRODUCTION = (
    f"After this page you know how long the stages, papers and slowest jobs of the reference run `{RUN.name}` took "
    "when it was last kept (`make reference`). `make` trains one seed.\n\n"
    "The seconds of a job are those from its start to its end, as Snakemake recorded them; other work on the machine "
    "makes them longer. *Own seconds* are those of training and inference themselves, without the start of a process, "
    "reading and writing. `make reference` writes them to `times.csv`."
)


def build_times(run: Path = RUN) -> str:
    """The page: shares of stages and papers, and the critical path."""
    if not (run / "times.csv").exists():
        return page(
            "Where the time goes", "No times are kept yet: `make reference` writes them.", "[All pages](index.md)"
        )
    times = pd.read_csv(run / "times.csv", keep_default_na=False, na_values=[""])
    total = times[times["kind"] == "all"].iloc[0]
    training = times[(times["kind"] == "stage") & times["name"].isin(["stage 1", "stage 2"])]["seconds"].sum()
    parts = [
        f"{total['jobs']:.0f} jobs took {total['seconds']:,.0f} seconds in all. Training (stages 1 and 2) was "
        f"{training / total['seconds']:.0%} of them.",
        "## By stage",
        describe_shares(times[times["kind"] == "stage"], total["seconds"]),
        "## By paper",
        "Jobs that several papers read count in each of them.",
        describe_shares(times[times["kind"] == "paper"], total["seconds"]),
        "## Critical path",
        "Each of these jobs reads what the one before it made. No number of cores is faster than their sum, "
        f"{times[times['kind'] == 'critical path']['seconds'].sum():,.0f} seconds.",
        describe_shares(times[times["kind"] == "critical path"], total["seconds"]),
    ]
    return page("Where the time goes", INTRODUCTION, *parts, "[All pages](index.md)")


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
