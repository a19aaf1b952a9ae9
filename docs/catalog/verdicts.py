"""Verdicts on claims: of the ledger and of the runs that are kept in results/reference."""

from functools import cache
from typing import Any

import pandas as pd

from catalog.markdown import REFERENCE, code, escape, table
from despur.evidence.all_evidence import load_evidence
from despur.evidence.claims.claim_format import Claim
from despur.evidence.verdicts import DECIDED, ORDERS, Tier

TITLES = ["on the paper's data", "on substitutes"]
SHOWN = {Tier.PAPER: DECIDED, Tier.SUBSTITUTE: ORDERS}


def describe_verdicts(paper: str, claim: str) -> list[str]:
    """Two cells: the verdicts of a claim by data set, on the paper's own data and on substitutes."""
    rows = load_claims()
    judged = rows[(rows["paper"] == paper) & (rows["claim"] == claim)]
    return [
        format_verdicts(judged[judged["tier"].eq(tier) & judged["verdict"].isin(words)])
        for tier, words in SHOWN.items()
    ]


@cache
def load_claims() -> pd.DataFrame:
    """All claims as they are known."""
    return load_evidence(reference=REFERENCE).claims


def format_verdicts(claims: pd.DataFrame) -> str:
    """``waterbirds: holds``, by data set, with the data that are used for it where these are several; a dash where
    nothing was judged."""
    several = claims.duplicated("paper_dataset", keep=False)
    names = claims["paper_dataset"].mask(several, claims["paper_dataset"] + " by " + claims["data"])
    verdicts = sorted(zip(names, claims["verdict"], strict=True))
    return ", ".join(f"{name}: {verdict}" for name, verdict in verdicts) or "–"


def list_names(contrasts: Any) -> set[str]:
    """All names in the contrasts of a claim: methods, settings, metrics, data sets."""
    if isinstance(contrasts, dict):
        return {str(key) for key in contrasts} | {name for part in contrasts.values() for name in list_names(part)}
    if isinstance(contrasts, list):
        return {name for part in contrasts for name in list_names(part)}
    return {str(contrasts)}


def tabulate_claims(claims: list[tuple[str, Claim]]) -> str:
    """A row for each (paper, claim), with its verdicts."""
    rows = [
        [
            f"[{paper}](../claims/{paper}.md)",
            escape(claim.statement) + " (no sentence of the paper)" * claim.ours,
            code(claim.name),
            *describe_verdicts(paper, claim.name),
        ]
        for paper, claim in claims
    ]
    return table(["paper", "statement", "claim", *TITLES], rows)
