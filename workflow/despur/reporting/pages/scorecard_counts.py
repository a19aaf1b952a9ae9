"""The rows of a scorecard and what is counted of them. The page, the README and ``despur summary`` show these counts:
numbers and claims on the papers' own data; apart from them, claims on substitute data; and the papers' slips.
Comparisons that no paper states (claims.yaml, ``ours``) have rows, and are counted nowhere.

A claim has a verdict of its own on each data that are used for a data set of its paper. Each counts, and none is
chosen: the best or the worst of several verdicts would be wrong more often than the level says. What is not judged,
and a slip, counts once for each data set of the paper, too."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from despur.evidence.measurements import list_measurements
from despur.evidence.numbers.counts import COMPARED, P_VALUES, count_numbers
from despur.evidence.numbers.tables import DECIDING, ORIGIN
from despur.evidence.tally import CLAIM, COMPARISON
from despur.evidence.verdicts import DECIDED, ORDERS, ClaimVerdict, Printed

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
    "reported_seeds",
    "ours",
    "ours_std",
    "by_seed",
    "collapsed",
    "difference",
    *DECIDING,
    *P_VALUES.values(),
    *ORIGIN,
    "claim",
    "statement",
    "primary",
    "tier",
    "k",
    "estimate",
    "low",
    "high",
    "margin",
    "p_holds",
    "p_fails",
    "printed",
    "seeds",
    "data",
    "substitute",
    "measured",
    "verdict",
    "reason",
    "advice",
]
CLAIM_KEY = ["paper", "claim", "paper_dataset"]  # what tells claims apart
JUDGED = (*DECIDED, *ORDERS)


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
        "not_tuned": claims[claims["verdict"] == ClaimVerdict.NOT_TUNED],
        "not_run": claims[claims["verdict"] == ClaimVerdict.NOT_RUN],
        "not_executed": claims[claims["verdict"] == ClaimVerdict.NOT_EXECUTED],
        "slips": claims[claims["printed"] == Printed.CONTRADICTED].drop_duplicates(["claim", "dataset"]),
        "comparisons": comparisons[comparisons["verdict"].isin(JUDGED)],
        "comparisons_not_run": comparisons[comparisons["verdict"] == ClaimVerdict.NOT_RUN],
    }


def find_verdicts(claims: pd.DataFrame, substitute: bool) -> pd.DataFrame:
    """The claims that were judged, on the papers' own data or on substitutes: a row for each verdict."""
    judged = claims[claims["verdict"].isin(JUDGED)]
    return judged[judged["substitute"].astype(str).str.lower().eq("true") == substitute]


def count_claims(claims: pd.DataFrame, substitute: bool) -> dict[str, int]:
    """How many verdicts on claims are of each kind; on the papers' own data or on substitutes."""
    found = find_verdicts(claims, substitute)["verdict"]
    return {verdict.value: int((found == verdict).sum()) for verdict in (ORDERS if substitute else DECIDED)}


def count_verdicts(rows: pd.DataFrame) -> dict[str, dict[str, int]]:
    """Of rows of scorecards: ``numbers`` by kind of verdict; claims by verdict, on the papers' ``own`` data and on
    ``substitute`` data."""
    numbers, claims = (rows[rows["kind_of_row"] == kind] for kind in ("number", CLAIM))
    return {
        "numbers": count_numbers(numbers),
        "own": count_claims(claims, substitute=False),
        "substitute": count_claims(claims, substitute=True),
    }


def count_measurements(rows: pd.DataFrame) -> int:
    """Of rows of scorecards, how many distinct measurements were compared: tables repeat some."""
    numbers = rows[(rows["kind_of_row"] == "number") & rows["verdict"].isin(COMPARED)]
    return len(list_measurements(numbers)) if len(numbers) else 0


def sum_numbers(counts: Mapping[str, int]) -> dict[str, Any]:
    """Of printed numbers by kind: how many there are, and how many were compared."""
    return {"printed": sum(counts.values()), "compared": sum(counts[kind] for kind in COMPARED)}


def count_headline(rows: pd.DataFrame) -> dict[str, Any]:
    """What stands first on the page."""
    found, claims = count_verdicts(rows), rows[rows["kind_of_row"] == CLAIM].drop_duplicates(CLAIM_KEY)
    return found | {
        "numbers": sum_numbers(found["numbers"]),
        "measurements": count_measurements(rows),
        "slips": int((claims["printed"] == Printed.CONTRADICTED).sum()),
        "not_executed": int((claims["verdict"] == ClaimVerdict.NOT_EXECUTED).sum()),
        "claims": len(claims),
    }
