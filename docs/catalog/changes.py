"""The page of verdicts that changed: of the bundled run before verdicts had known error rates, and of the run that is
kept now."""

from pathlib import Path
from typing import Any

import pandas as pd

from catalog.markdown import code, escape, page, table
from despur.evidence.verdicts import DECIDED as JUDGED
from despur.reporting.pages.summary import REFERENCE

RUN = REFERENCE / "three_seeds"
CLAIM = ["paper", "claim", "dataset"]
KEY = [*CLAIM, "data"]  # a claim has a verdict on each data that are used
INTRODUCTION = (
    "After this page you know which verdicts of the bundled run changed when they got known error rates, and why.\n\n"
    "Before: intervals were percentiles of a bootstrap, two seeds decided, and a claim about several contrasts was "
    "judged by their minimum. Now: the rules of [Reading the results](../reading_results.md). Both runs are on small "
    "substitute data; their verdicts are about these runs, not about the papers. Estimates differ, too, as other "
    "versions of the code made the runs. Intervals are of the contrast nearest to its margin.\n\n"
    "Made from [`verdicts_before.csv`](/results/reference/three_seeds/verdicts_before.csv) and the claims of the run "
    "that is kept in [`results/reference`](/results/reference)."
)


def build_changes(run: Path = RUN) -> str:
    """The page: counts before and now, a row for each verdict that changed, and for each that is not given now."""
    before, every = load_before(run), load_now(run)
    now = every[every["verdict"].isin(JUDGED)]
    both = before.merge(now, on=KEY, suffixes=("_before", ""))
    left = before[~pd.MultiIndex.from_frame(before[KEY]).isin(pd.MultiIndex.from_frame(now[KEY]))]
    others = every[~every["verdict"].isin(JUDGED)].drop(columns="data").drop_duplicates(CLAIM)
    gone = left.merge(others, on=CLAIM, how="left", suffixes=("_before", ""))
    changed = both[both["verdict_before"] != both["verdict"]]
    counts = [[title, *count(rows)] for title, rows in (("before", before), ("now", now))]
    rows = [[*name_claim(row), describe_verdict(row), escape(explain_change(row))] for row in changed.itertuples()]
    lost = [[*name_claim(row), escape(explain_absence(row))] for row in gone.itertuples()]
    parts = [
        table(["run", *JUDGED], counts),
        f"{len(both)} claims were judged in both runs; {len(changed)} of their verdicts changed. "
        f"{len(now) - len(both)} claims were judged now only: claims differ, and so does what is run.",
        table(["claim", "paper, data set", "before", "now", "why"], rows),
    ]
    if lost:
        parts += [
            f"{len(lost)} claims were judged before only:",
            table(["claim", "paper, data set", "before", "why"], lost),
        ]
    return page("Changed verdicts", INTRODUCTION, *parts, "[All claims](index.md)")


def load_before(run: Path) -> pd.DataFrame:
    """The verdicts of the run before, with the statements of that time."""
    return pd.read_csv(run / "verdicts_before.csv")


def load_now(run: Path) -> pd.DataFrame:
    """The claims of the run that is kept now, each with a row for each data set of its paper and data that are used."""
    tables = [pd.read_csv(file).assign(paper=file.parent.name) for file in sorted(run.glob("*/claims.csv"))]
    return pd.concat(tables, ignore_index=True)


def count(rows: pd.DataFrame) -> list[str]:
    """How many verdicts are of each kind."""
    return [str((rows["verdict"] == verdict).sum()) for verdict in JUDGED]


def name_claim(row: Any) -> list[str]:
    """Cells: the claim, where it is from, and its verdict before."""
    statement = row.statement_before if pd.isna(row.statement) else row.statement
    return [
        f"{escape(statement)} ({code(row.claim)})",
        f"{row.paper}, {row.dataset}",
        describe_verdict(row, "_before"),
    ]


def describe_verdict(row: Any, when: str = "") -> str:
    """``holds: +0.12 [+0.05, +0.19], 3 seeds``."""
    verdict, estimate, low, high, seeds = (
        getattr(row, name + when) for name in ("verdict", "estimate", "low", "high", "seeds")
    )
    return f"{verdict}: {estimate:+.3g} \\[{low:+.3g}, {high:+.3g}\\], {seeds:.0f} seeds"


def explain_change(row: Any) -> str:
    """Why a verdict is another one."""
    reasons = [] if pd.isna(row.reason) else [row.reason]
    if not pd.isna(row.reason_before):
        reasons.append(f"before: {row.reason_before}")
    if row.statement != row.statement_before:
        reasons.append(f"the claim is put otherwise; before: {row.statement_before}")
    elif row.margin != row.margin_before and judge_bounds(row, row.margin_before) == row.verdict_before:
        reasons.append(f"the margin is {row.margin:g}, before {row.margin_before:g}")
    if not reasons and row.verdict == "undecided" and row.high - row.low > row.high_before - row.low_before:
        bounds = f"each of {row.k:.0f} contrasts has bounds of its own" if row.k > 1 else "the bounds are wider"
        reasons.append(f"{bounds}: Student's over {row.seeds:.0f} seeds, and the test data's noise")
    if not reasons and row.k > 1:
        reasons.append(f"each of {row.k:.0f} contrasts is judged by itself, before the smallest of them; new runs, too")
    if not reasons:
        reasons.append("the runs are new ones: the estimate differs")
    return "; ".join(reasons)


def judge_bounds(row: Any, margin: float) -> str:
    """What the bounds of today would say with another margin."""
    return "holds" if row.low > margin else "fails" if row.high < margin else "undecided"


def explain_absence(row: Any) -> str:
    """Why a claim has no verdict now."""
    if pd.isna(row.verdict):
        return "no longer among the claims, or not on these data"
    return f"{row.verdict}: {row.reason}"
