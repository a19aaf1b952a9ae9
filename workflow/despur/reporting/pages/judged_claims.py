"""The page *Claims on the papers' data*: each claim whose data were run, its weakest contrast, and why it is open. Of
other pages: the primary claims of a paper in a sentence."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.all_evidence import Evidence, mark_standing
from despur.evidence.claims.claim_evidence import format_estimate
from despur.evidence.claims.refusals import PRESUPPOSED
from despur.evidence.verdicts import DECIDED, ORDERS, ClaimVerdict, NumberVerdict, Tier
from despur.orchestration.experiments import load_experiments
from despur.reporting.markdown import escape_star, to_markdown

PAGE = Path("docs/judged_claims.md")
NOT_MEASURED = (NumberVerdict.SUBSTITUTE, NumberVerdict.NOT_RUN)
JUDGED = (*DECIDED, ClaimVerdict.NOT_TUNED)  # verdicts on the papers' own data
INTRODUCTION = """# Claims on the papers' data

After this page you know how each claim of the papers stands whose data sets were run, and what is missing where it is
open. `despur ledger report` writes this page from the [ledger](ledger.md); [Reading the results](reading_results.md)
explains the verdicts, [What we found](what_we_found.md) counts them. The scorecard of `make verdicts` shows all claims,
those on other data as well.

Of a claim of several contrasts the table shows the weakest, with a 95 % interval over seeds and test samples. What is
below 0, or below a named margin, speaks against the claim. Information is in nats. *Near* is at most 5
points apart (margin -5), a size of our choice. A verdict needs a wider interval, as few seeds may be skewed. *q*: the
share of false verdicts among all that are as sure as this one (primary claims are judged together instead). *About 16
seeds; then it would fail*: if mean and spread stayed as they are, which few seeds do not show. Where a paper is silent,
settings are [our choices](open_choices.md); another choice may turn a verdict."""


def format_judged_claims(claims: pd.DataFrame) -> str:
    """The page: of each paper the claims that were judged, and those that something is missing for."""
    parts = [INTRODUCTION]
    for paper, own in select_own(claims).groupby("paper", sort=False):
        rows = {"judged": select_judged(own), "not judged": select_open(own)}
        if any(map(len, rows.values())):
            parts += [f"## {load_experiments(str(paper))['title']}", *describe_judged(rows["judged"])]
            parts += [*describe_open(rows["not judged"])]
    return "\n\n".join([*parts, "[All pages](index.md)"]) + "\n"


def select_judged(own: pd.DataFrame) -> pd.DataFrame:
    """The claims that have a verdict on the paper's own data."""
    return own[own["verdict"].isin(JUDGED)]


def select_decided(claims: pd.DataFrame) -> pd.DataFrame:
    """The claims that hold or fail."""
    return claims[claims["verdict"].isin([ClaimVerdict.HOLDS, ClaimVerdict.FAILS])]


def select_open(claims: pd.DataFrame) -> pd.DataFrame:
    """The claims on the papers' own data whose data were run in part, and that something is missing for."""
    own = select_own(claims)
    return own[own["verdict"].eq(ClaimVerdict.NOT_RUN) & own["data"].fillna("").ne("")]


def describe_judged(judged: pd.DataFrame) -> Iterator[str]:
    """A table of the claims with a verdict; below it the settings that were fitted, selected or screened."""
    if not len(judged):
        return
    columns = ["claim", "weakest contrast", "estimate", "seeds", "verdict", "q", "why, or what would decide it"]
    yield to_markdown(columns, map(format_row, judged.to_dict("records")))
    settings = sorted({part for text in judged["settings"] for part in text.split("; ") if part})
    if settings:
        yield f"Settings behind these claims: {escape_star('; '.join(settings))}."


def format_row(row: dict[Any, Any]) -> list[str]:
    """The cells of a claim. Of one whose presupposition is not shown, no contrast says anything."""
    said = [escape_star(row["statement"]), "–", "–"]
    if has_estimate(row):
        alone = float(row["k"]) == 1  # then the statement says data and metric
        pair = re.sub(r" \(.*", "", row["weakest"]) if alone else row["weakest"]
        said[1:] = [f"`{pair}`" + ("" if alone else f" (of {float(row['k']):g})"), format_difference(row)]
    why = "; ".join(text for text in (row["reason"], row["advice"]) if text)
    return [*said, str(row["seeds"]), str(row["verdict"]), format_q(row["q"]), why or "–"]


def format_difference(row: dict[Any, Any]) -> str:
    """``-3 [-13, +7] points, margin -5``: a claim's weakest contrast; of accuracies in points."""
    in_points = "accuracy" in row["weakest"] and not row["weakest"].startswith(("logarithms", "Fisher's z"))
    scale, unit = (100, " points") if in_points else (1, "")
    margin = f", margin {scale * row['margin']:g}" if row["margin"] and not pd.isna(row["margin"]) else ""
    return format_estimate(*(scale * row[name] for name in ("estimate", "low", "high"))) + unit + margin


def format_q(q: float) -> str:
    """Two digits; a dash where there is none."""
    return "–" if pd.isna(q) else f"{q:.2g}"


def has_estimate(row: dict[Any, Any]) -> bool:
    """Whether a contrast of a claim says something: it was measured, and what the claim presupposes is shown."""
    measured = not any(pd.isna(row.get(name, math.nan)) for name in ("estimate", "low", "high"))
    return measured and not row["reason"].startswith(PRESUPPOSED)


def describe_open(open_claims: pd.DataFrame) -> Iterator[str]:
    """A table of the claims without a verdict, and what was not measured."""
    if len(open_claims):
        yield "Not judged, as something is missing:"
        rows = [[row.statement, explain_missing(row.reason, row.collapsed)] for row in open_claims.itertuples()]
        yield to_markdown(["claim", "what is missing"], [[escape_star(text) for text in row] for row in rows])


def explain_missing(reason: str, collapsed: str) -> str:
    """Why a claim is open, and which seeds of the method that it lacks collapsed (of these, no value counts)."""
    of_method = [text for text in collapsed.split("; ") if text.partition(":")[0] in reason.split()]
    return "; ".join([reason, *of_method])


def describe_claims(judged: pd.DataFrame) -> Iterator[str]:
    """How many claims have each verdict on the paper's data."""
    if len(judged):
        counts = Counter(judged["verdict"])
        decided = select_decided(judged)
        each = ", ".join(f"{verdict} {counts[verdict]}" for verdict in counts)
        if len(decided):
            stands = mark_standing(decided).sum()
            each += f" (of {len(decided)} decided, {stands} stand if 5 % of such verdicts may be false)"
        yield f"- **Claims on the paper's data**: {each}."


def describe_other_encoder(claims: pd.DataFrame) -> Iterator[str]:
    """The orders of claims that were looked at on the paper's data with another encoder; they never count as the
    paper's."""
    seen = claims[claims["tier"].eq(Tier.OTHER_ENCODER) & claims["verdict"].isin(ORDERS)]
    if len(seen):
        counts = ", ".join(f"{seen['verdict'].eq(order).sum()} {order}" for order in ORDERS)
        said = "; ".join(f"“{row.statement}” ({row.paper_dataset}): {row.verdict}" for row in seen.itertuples())
        yield f"- **Orders of claims with another encoder**, which say nothing of print: {counts}. {escape_star(said)}."


def select_own(claims: pd.DataFrame) -> pd.DataFrame:
    """The claims as judged on the papers' own data."""
    return claims[claims["tier"].eq(Tier.PAPER)]


def list_measured_datasets(paper: str, evidence: Evidence) -> set[str]:
    """The data sets of a paper of which anything was measured."""
    return {
        measurement.paper_dataset
        for measurement in evidence.measurements
        if measurement.paper == paper and measurement.verdict not in NOT_MEASURED
    }


def describe_primary(primary: pd.DataFrame, measured_datasets: Collection[str]) -> str:
    """``Primary claim: "CNC's accuracy is above JTT's": holds (waterbirds: +0.1 [+0.05, +0.15]), not run (celeba).`` Of
    a claim about several data sets that was not run, those that are not ``measured_datasets``."""
    said = []
    own = select_own(primary)
    missing = own["paper_dataset"].map(partial(list_missing, measured_datasets))
    own = own.assign(paper_dataset=own["paper_dataset"].mask(own["verdict"].eq(ClaimVerdict.NOT_RUN), missing))
    own["paper_dataset"] += [describe_estimate(row) for row in own.to_dict("records")]
    for statement, rows in own.groupby("statement", sort=False):
        verdicts = rows.groupby("verdict", sort=False)["paper_dataset"].agg("; ".join)
        verdict_texts = ", ".join(f"{shorten(verdict)} ({datasets})" for verdict, datasets in verdicts.items())
        said.append(f"“{statement}”: {verdict_texts}")
    return f"Primary claim{'s' * (len(said) > 1)}: {'; '.join(said) or 'none named'}."


def describe_estimate(row: dict[Any, Any]) -> str:
    """``, 3 seeds: -3 [-13, +7] points, would fail with about 16 seeds if mean and spread stayed``: what was measured
    of a claim, if anything was."""
    if row["verdict"] not in DECIDED or not has_estimate(row):
        return ""
    advice = re.sub("(about .*); then it (.*)", r"\2 with \1 if mean and spread stayed", row.get("advice") or "")
    return ", ".join(filter(None, [f", {row['seeds']} seeds: {format_difference(row)}", advice]))


def list_missing(measured_datasets: Collection[str], datasets: str) -> str:
    """``waterbirds, celeba``: of the data sets of a claim, those that were not measured; all, if none is missing."""
    names = datasets.split(", ")
    return ", ".join([name for name in names if name not in measured_datasets] or names)


def shorten(verdict: str) -> str:
    """``not run``: of all that is known, there is no *here*."""
    return "not run" if verdict == ClaimVerdict.NOT_RUN else str(verdict)
