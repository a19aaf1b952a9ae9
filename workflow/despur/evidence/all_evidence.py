"""All that may be said, in one place: every measurement once, every claim's verdict, and what is counted of them.

:func:`load_evidence` reads what is known: the kept verdicts of the ledger and of reference runs (results/reference),
and the scorecard of this machine. Pages, the README and the end of ``make`` show what it gives; none of them counts
anew."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import pandas as pd

from despur.evidence import tally
from despur.evidence.claims.claim_format import read_claims
from despur.evidence.measurements import SAME_MEASUREMENT, Measurement, list_measurements
from despur.evidence.numbers.counts import COMPARED, RATE, count_standing
from despur.evidence.statistics.multiplicity import WRONG, adjust_false_discoveries, adjust_holm, calibrate
from despur.evidence.verdicts import COUNTED, DECIDED, MEASURED, ORDERS, ClaimVerdict, NumberVerdict, Tier
from despur.orchestration.experiments import REFERENCE
from despur.orchestration.paper_folders import find_papers
from despur.storage.store import InputError

CLAIM_KEY = ["paper", "claim", "paper_dataset", "tier"]
UNDECIDABLE = (NumberVerdict.OTHER_SETTINGS, NumberVerdict.NOT_COMPARED, ClaimVerdict.NOT_TUNED)  # on the paper's data


def judge_together(claims: pd.DataFrame) -> pd.DataFrame:
    """Claims with what all of them together allow. Primary claims on the papers' data: the verdict by Holm's method
    over all of them, whether they were measured or not. All others: ``q``, the rate of false discoveries at which each
    stands (Benjamini and Hochberg). p values hold for skewed seeds, too; a claim that is not decided for a reason has
    none."""
    reason = claims.get("reason", pd.Series("", claims.index)).fillna("")
    open_to_decide = claims["verdict"].isin([*DECIDED, *ORDERS]) & reason.eq("")
    primary = claims["tier"].eq(Tier.PAPER) & claims["primary"].ne("")
    smallest = claims[["p_holds", "p_fails"]].astype(float).min(axis=1)
    table = claims.assign(p=pd.Series(calibrate(smallest), claims.index).where(open_to_decide), q=float("nan"))
    table.loc[primary, "p"] = adjust_holm(table.loc[primary, "p"].to_numpy(float))
    undecided = primary & open_to_decide & ~(table["p"] <= WRONG)
    table.loc[undecided, "verdict"] = ClaimVerdict.UNDECIDED
    for _, rows in table[~primary].groupby("tier"):
        table.loc[rows.index, "q"] = adjust_false_discoveries(rows["p"].to_numpy(float))
    return table


@dataclass(frozen=True)
class PaperEvidence:
    """What a first screen says of a paper: its ``primary`` claims (rows of claims); of distinct measurements, how many
    have each verdict (``numbers``), how many of these stand at 5 % false discoveries (``standing``), and how many of
    each kind of settings were compared (``settings``); how many ``claims`` have each verdict on the paper's data, on
    its data with another encoder, and on substitutes; of those on the paper's data, how many that hold, and how many
    that fail, stand (``standing_claims``)."""

    paper: str
    primary: pd.DataFrame
    numbers: Mapping[str, int]
    standing: Mapping[str, int]
    settings: Mapping[str, int]
    claims: Mapping[Tier, Mapping[str, int]]
    standing_claims: Mapping[str, int]


@dataclass(frozen=True)
class Evidence:
    """``measurements``: each once. ``claims``: a row for each claim, data set of its paper and tier, as judged
    together. ``papers``: what is counted of them. ``false_verdicts``: by tier, how many verdicts are expected to be
    false at most."""

    measurements: list[Measurement]
    claims: pd.DataFrame
    papers: list[PaperEvidence]
    false_verdicts: Mapping[Tier, float]


def load_evidence(scorecard: Path | None = None, reference: Path = REFERENCE) -> Evidence:
    """Every measurement and every claim's verdict of the ledger, of reference runs on substitute data, and of this
    machine (``scorecard``), each from where it has most seeds. Runs on substitute data are of this code alone: no
    number is compared there, and of claims an order is looked at. What reference runs measured on the papers' data
    counts in the ledger, which knows the revisions of what made it."""
    recorded, here = reference / "ledger/scorecard.csv", [scorecard] if scorecard else []
    kept = [file for file in sorted(reference.rglob("scorecard.csv")) if file != recorded]
    tables = [drop_papers_data(read_scorecard(file)) for file in kept]
    tables += [read_scorecard(file) for file in (recorded, *here) if file.exists()]
    none = list_not_run()
    return gather_evidence([none, *(drop_earlier_claims(table, none) for table in tables)])


def drop_papers_data(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of a scorecard without verdicts on the papers' data."""
    judged = table["verdict"].isin([*MEASURED, *COUNTED, NumberVerdict.FITTED, NumberVerdict.OTHER_SETTINGS])
    return table[~judged & table["tier"].isin(["", Tier.SUBSTITUTE])]


def drop_earlier_claims(table: pd.DataFrame, now: pd.DataFrame) -> pd.DataFrame:
    """The rows of a scorecard without claims that no paper has now, or that it states otherwise."""
    stated, kept = (pd.MultiIndex.from_frame(rows[["paper", "claim", "statement"]]) for rows in (now, table))
    return table[table["kind_of_row"].ne(tally.CLAIM) | kept.isin(stated)]


def list_not_run() -> pd.DataFrame:
    """Every printed number and every claim of every paper, as rows of a scorecard of which nothing was run."""
    parts = []
    for paper, folder in find_papers().items():
        not_run = {"paper": paper, "seeds": 0}
        empty = {"verdict": NumberVerdict.NOT_RUN, **dict.fromkeys(("by_seed", "settings", "data"), "")}
        numbers = tally.list_printed(paper).assign(kind_of_row=tally.NUMBER, **not_run, **empty)
        claims = [
            {
                "kind_of_row": tally.CLAIM,
                "claim": claim.name,
                "statement": claim.statement,
                "place": claim.place,
                "paper_dataset": ", ".join(datasets),
                "tier": Tier.PAPER,
                "primary": claim.primary,
                "verdict": ClaimVerdict.NOT_EXECUTED if claim.not_executed else ClaimVerdict.NOT_RUN,
                "reason": claim.not_executed,
            }
            for claim in read_claims(folder / "claims.yaml")[0]
            if not claim.ours
            for datasets in claim.rows
        ]
        parts += [numbers, pd.DataFrame(claims).assign(**not_run)]
    return pd.concat(parts, ignore_index=True).reindex(columns=tally.SCORECARD_COLUMNS).astype(object)


def read_scorecard(file: Path) -> pd.DataFrame:
    """The rows of a scorecard; what is empty in texts is an empty text. Raises InputError for one of earlier rules."""
    table = pd.read_csv(file, dtype={"setting": str}, low_memory=False)
    if "tier" not in table:
        raise InputError(f"{file} has no column tier: it is of an earlier version of despur; move it elsewhere")
    texts = [name for name in table if table[name].dtype == object]
    return table.fillna(dict.fromkeys(texts, "")).astype(object)


def gather_evidence(scorecards: Iterable[pd.DataFrame]) -> Evidence:
    """The same of rows of scorecards (:func:`despur.evidence.tally.join_tables`)."""
    rows = pd.concat(list(scorecards), ignore_index=True)
    numbers = keep_best(rows[rows["kind_of_row"] == tally.NUMBER], [*SAME_MEASUREMENT[:4], "setting", "place"])
    measurements = list_measurements(numbers)
    claims = keep_best(rows[rows["kind_of_row"] == tally.CLAIM], CLAIM_KEY).reset_index(drop=True)
    claims = judge_together(claims.fillna(dict.fromkeys(tally.CLAIM_TEXT_COLUMNS, "")))
    papers = sorted({*numbers["paper"], *claims["paper"]})
    judged = {tier: claims[claims["tier"].eq(tier) & claims["p"].notna()] for tier in Tier}
    expected = {tier: WRONG * len(rows) for tier, rows in judged.items()}
    return Evidence(measurements, claims, list(count_papers(papers, measurements, claims)), expected)


def keep_best(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Of the rows of one number or claim, the one with a verdict, else one of the paper's data that cannot have one; of
    these the one with most seeds, the last if several have as many."""
    rank = 2 * rows["verdict"].isin([*MEASURED, *COUNTED, *DECIDED, *ORDERS, NumberVerdict.FITTED]).astype(int)
    rank += rows["verdict"].isin(UNDECIDABLE)
    seeds = pd.to_numeric(rows["seeds"], errors="coerce").fillna(0)
    ranked = rows.assign(_known=rank, _seeds=seeds).sort_values(["_known", "_seeds"], kind="stable")
    kept = ranked.fillna(dict.fromkeys(key, "")).drop_duplicates(key, keep="last").index
    return rows.loc[sorted(kept)]


def count_papers(papers: list[str], measurements: list[Measurement], claims: pd.DataFrame) -> Iterator[PaperEvidence]:
    """What is counted of each paper."""
    table = pd.DataFrame(measurements, columns=[field.name for field in fields(Measurement)])
    for paper in papers:
        numbers, said = table[table["paper"] == paper], claims[claims["paper"] == paper]
        yield PaperEvidence(
            paper,
            said[said["primary"].ne("")],
            numbers["verdict"].value_counts().to_dict(),
            count_standing(numbers),
            numbers.loc[numbers["verdict"].isin(COMPARED), "settings"].value_counts().to_dict(),
            {tier: said.loc[said["tier"].eq(tier), "verdict"].value_counts().to_dict() for tier in Tier},
            count_standing_claims(said[said["tier"].eq(Tier.PAPER)]),
        )


def count_standing_claims(claims: pd.DataFrame) -> dict[str, int]:
    """How many claims that hold, and how many that fail, stand."""
    standing = claims.loc[mark_standing(claims), "verdict"]
    return {verdict: int(standing.eq(verdict).sum()) for verdict in (ClaimVerdict.HOLDS, ClaimVerdict.FAILS)}


def mark_standing(claims: pd.DataFrame) -> "pd.Series[bool]":
    """Which verdicts on claims stand if 5 % of all may be false; of primary claims, each that is given does."""
    return claims["primary"].ne("") | claims["q"].astype(float).le(RATE)
