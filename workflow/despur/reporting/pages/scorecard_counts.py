"""The rows of a scorecard and what is counted of them. The page, the README and ``despur summary`` show these counts:
numbers and claims on the papers' own data; apart from them, claims on substitute data; and the papers' slips.
Comparisons that no paper states (claims.yaml, ``ours``) have rows, and are counted nowhere.

A claim has a verdict of its own on each data that are used for a data set of its paper. Each counts, and none is
chosen: the best or the worst of several verdicts would be wrong more often than the level says. What is not judged,
and a slip, counts once for each data set of the paper, too."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from despur.evidence.claims.judging import CONTRADICTED, NOT_EXECUTED
from despur.evidence.numbers import verdicts
from despur.reporting.pages.tally import CLAIM, COMPARISON

COLUMNS = [
    "paper",
    "kind_of_row",
    "place",
    "artifact",
    "paper_dataset",
    "method",
    "setting",
    "metric",
    "unit",
    "reported",
    "reported_std",
    "ours",
    "ours_std",
    "difference",
    "smallest_visible",
    "claim",
    "statement",
    "k",
    "estimate",
    "low",
    "high",
    "margin",
    "printed",
    "seeds",
    "data",
    "substitute",
    "measured",
    "verdict",
    "explanation",
    "advice",
]
# What tells measurements apart; two that agree to the last digit in mean and deviation are one.
MEASUREMENT = ["paper", "metric", "data", "ours", "ours_std"]
CLAIM_KEY = ["paper", "claim", "paper_dataset"]  # what tells claims apart
JUDGED = ("holds", "fails", "undecided")


def join_tables(tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """The rows of a scorecard: one for each printed number, claim and comparison, and each data set used for it.
    ``tables``: numbers and claims of each paper."""
    parts = []
    for numbers, claims in tables.values():
        parts.append(numbers.assign(kind_of_row="number"))
        parts.append(claims.rename(columns={"dataset": "paper_dataset"}))
    return pd.concat([part.reindex(columns=COLUMNS).astype(object) for part in parts])


def split_claims(claims: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The claims of a paper by what was done with them: judged on its ``own`` data, or on a ``substitute``; ``not_run``
    here; ``not_executed`` at all. ``slips``: those that its own numbers contradict, once for each data set of the
    paper. Apart from them, the ``comparisons`` that the paper does not state, judged or not run."""
    ours = claims["kind_of_row"] == COMPARISON
    comparisons, claims = claims[ours], claims[~ours]
    judged = claims[claims["verdict"].isin(JUDGED)]
    judged = judged.sort_values("verdict", key=lambda verdict: verdict.map(JUDGED.index), kind="stable")
    return {
        "own": judged[~judged["substitute"].astype(bool)],
        "substitute": judged[judged["substitute"].astype(bool)],
        "not_run": claims[claims["verdict"] == verdicts.NOT_RUN],
        "not_executed": claims[claims["verdict"] == NOT_EXECUTED],
        "slips": claims[claims["printed"] == CONTRADICTED].drop_duplicates(["claim", "dataset"]),
        "comparisons": comparisons[comparisons["verdict"].isin(JUDGED)],
        "comparisons_not_run": comparisons[comparisons["verdict"] == verdicts.NOT_RUN],
    }


def find_verdicts(claims: pd.DataFrame, substitute: bool) -> pd.DataFrame:
    """The claims that were judged, on the papers' own data or on substitutes: a row for each verdict."""
    judged = claims[claims["verdict"].isin(JUDGED)]
    return judged[judged["substitute"].astype(str).str.lower().eq("true") == substitute]


def count_claims(claims: pd.DataFrame, substitute: bool) -> dict[str, int]:
    """How many verdicts on claims are of each kind; on the papers' own data or on substitutes."""
    found = find_verdicts(claims, substitute)["verdict"]
    return {verdict: int((found == verdict).sum()) for verdict in JUDGED}


def count_verdicts(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Of rows of scorecards: ``numbers`` by kind of verdict; claims by verdict, on the papers' ``own`` data and on
    ``substitute`` data."""
    numbers, claims = (rows[rows["kind_of_row"] == kind] for kind in ("number", CLAIM))
    return {
        "numbers": verdicts.count_numbers(numbers),
        "own": count_claims(claims, substitute=False),
        "substitute": count_claims(claims, substitute=True),
    }


def count_measurements(rows: pd.DataFrame) -> dict[str, int]:
    """Of rows of scorecards, the compared numbers of trained models: how many; how many of them agree, are
    ``explained`` by a choice, or ``open``; how many different ``measurements`` they are, as tables repeat some."""
    compared = rows["verdict"].isin(verdicts.COMPARED) & rows["method"].notna() & (rows["kind_of_row"] == "number")
    explained = rows.reindex(columns=["explanation"])["explanation"].astype(str).str.startswith("explained")
    order = rows["verdict"].map({kind: i for i, kind in enumerate(verdicts.KINDS)})
    worst_first = rows.assign(explained=explained, order=order)[compared].sort_values(["order", "explained"])
    numbers = worst_first.drop_duplicates([*verdicts.NUMBER])
    agree = numbers["verdict"] == "agrees"
    explained = ~agree & numbers["explained"]
    return {
        "numbers": len(numbers),
        "agrees": int(agree.sum()),
        "explained": int(explained.sum()),
        "open": int((~agree & ~explained).sum()),
        "measurements": len(numbers.drop_duplicates(MEASUREMENT)),
    }


def sum_numbers(counts: Mapping[str, int]) -> dict[str, Any]:
    """Of printed numbers by kind: how many were compared, and how many of these agree."""
    return {
        "printed": sum(counts.values()),
        "compared": sum(counts[kind] for kind in verdicts.COMPARED),
        "agrees": counts["agrees"],
        "by_chance": verdicts.differences_by_chance(dict(counts)),
    }


def count_headline(rows: pd.DataFrame) -> dict[str, Any]:
    """What stands first on the page."""
    found, claims = count_verdicts(rows), rows[rows["kind_of_row"] == CLAIM].drop_duplicates(CLAIM_KEY)
    return found | {
        "numbers": sum_numbers(found["numbers"]),
        "slips": int((claims["printed"] == CONTRADICTED).sum()),
        "not_executed": int((claims["verdict"] == NOT_EXECUTED).sum()),
        "claims": len(claims),
    }
