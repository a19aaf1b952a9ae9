"""What the page of verdicts counts: numbers and claims on the papers' own data; apart from them, claims on substitute
data; and the papers' slips."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from despur.reporting import verdicts
from despur.reporting.claims import CONTRADICTED, NOT_EXECUTED

JUDGED = ("holds", "fails", "undecided")


def split_claims(claims: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """The claims of a paper by what was done with them: judged on its ``own`` data, or on a ``substitute``; ``not_run``
    here; ``not_executed`` at all. ``slips``: those that its own numbers contradict, once for each data set of the
    paper."""
    judged = claims[claims["verdict"].isin(JUDGED)]
    judged = judged.sort_values("verdict", key=lambda verdict: verdict.map(JUDGED.index), kind="stable")
    return {
        "own": judged[~judged["substitute"].astype(bool)],
        "substitute": judged[judged["substitute"].astype(bool)],
        "not_run": claims[claims["verdict"] == verdicts.NOT_RUN],
        "not_executed": claims[claims["verdict"] == NOT_EXECUTED],
        "slips": claims[claims["printed"] == CONTRADICTED].drop_duplicates(["claim", "dataset"]),
    }


def count_numbers(counts: Mapping[str, int]) -> dict[str, Any]:
    """Of printed numbers by kind: how many were compared, and how many of these agree."""
    return {
        "printed": sum(counts.values()),
        "compared": sum(counts[kind] for kind in verdicts.COMPARED),
        "agrees": counts["agrees"],
        "substitute": counts["substitute data"],
        "by_chance": verdicts.differences_by_chance(dict(counts)),
    }


def count_headline(papers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What stands first on the page: numbers, and verdicts of claims on the papers' own data and on substitutes, over
    all papers."""
    numbers: Counter[str] = Counter()
    for paper in papers:
        numbers.update(paper["counts"])
    own, substitute = (
        Counter(verdict for paper in papers for verdict in paper["claims"][data]["verdict"])
        for data in ("own", "substitute")
    )
    return {
        "numbers": count_numbers(numbers),
        "own": {verdict: own[verdict] for verdict in JUDGED},
        "substitute": {verdict: substitute[verdict] for verdict in JUDGED},
        "slips": sum(len(paper["claims"]["slips"]) for paper in papers),
        "not_executed": sum(len(paper["claims"]["not_executed"]) for paper in papers),
        "claims": sum(paper["asked"] for paper in papers),
    }
