"""The rows of scorecard.csv: every printed number, claim and comparison (claims.yaml, ``ours``) of the papers, judged
in one configuration or not run. What they say together with the ledger and reference runs:
despur/evidence/all_evidence.py."""

from collections.abc import Mapping

import pandas as pd

from despur.evidence.numbers.tables import ORIGIN
from despur.evidence.numbers.verdicts import DECIDING, P_VALUES

SCORECARD_COLUMNS = [
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
    "weakest",
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


def join_tables(tables: Mapping[str, tuple[pd.DataFrame, pd.DataFrame]]) -> pd.DataFrame:
    """The rows of a scorecard: one for each printed number, claim and comparison, and each data set used for it.
    ``tables``: numbers and claims of each paper."""
    parts = []
    for numbers, claims in tables.values():
        parts.append(numbers.assign(kind_of_row="number"))
        parts.append(claims.rename(columns={"dataset": "paper_dataset"}))
    return pd.concat([part.reindex(columns=SCORECARD_COLUMNS).astype(object) for part in parts])
