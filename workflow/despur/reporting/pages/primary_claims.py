"""The primary claims of a paper with their verdicts on its own data, in a sentence."""

from collections.abc import Collection
from functools import partial

import pandas as pd

from despur.evidence.all_evidence import Evidence
from despur.evidence.verdicts import ClaimVerdict, NumberVerdict, Tier

NOT_MEASURED = (NumberVerdict.SUBSTITUTE, NumberVerdict.NOT_RUN)


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


def describe_primary(primary: pd.DataFrame, measured_datasets: Collection[str] = ()) -> str:
    """``Primary claim: "CNC's accuracy is above JTT's": holds (waterbirds), not run (celeba).`` Of a claim about
    several data sets that was not run, those that are not ``measured_datasets``."""
    said = []
    own = select_own(primary)
    missing = own["paper_dataset"].map(partial(list_missing, measured_datasets))
    own = own.assign(paper_dataset=own["paper_dataset"].mask(own["verdict"].eq(ClaimVerdict.NOT_RUN), missing))
    for statement, rows in own.groupby("statement", sort=False):
        verdicts = rows.groupby("verdict", sort=False)["paper_dataset"].agg(", ".join)
        verdict_texts = ", ".join(f"{shorten(verdict)} ({datasets})" for verdict, datasets in verdicts.items())
        said.append(f"“{statement}”: {verdict_texts}")
    return f"Primary claim{'s' * (len(said) > 1)}: {'; '.join(said) or 'none named'}."


def list_missing(measured_datasets: Collection[str], datasets: str) -> str:
    """``waterbirds, celeba``: of the data sets of a claim, those that were not measured; all, if none is missing."""
    names = datasets.split(", ")
    return ", ".join([name for name in names if name not in measured_datasets] or names)


def shorten(verdict: str) -> str:
    """``not run``: of all that is known, there is no *here*."""
    return "not run" if verdict == ClaimVerdict.NOT_RUN else str(verdict)
