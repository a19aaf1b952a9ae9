"""All that may be said, in one place: every measurement once, every claim's verdict, and what is counted of them.

:func:`load_evidence` reads what is known: the kept verdicts of the ledger and of reference runs (results/reference),
and the scorecard of this machine. Pages, the README and the end of ``make`` show what it gives; none of them counts
anew."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.numbers.counts import count_standing
from despur.evidence.numbers.printed import parse_settings
from despur.evidence.statistics.contrasts import LEVEL
from despur.evidence.statistics.multiplicity import adjust_false_discoveries, adjust_holm
from despur.evidence.verdicts import COUNTED, DECIDED, MEASURED, ORDERS, ClaimVerdict, NumberVerdict, Settings, Tier
from despur.orchestration.experiments import REFERENCE

WRONG = 0.05  # a verdict is wrong in at most so many cases (docs/error_rates.md)
SAME = ["paper", "paper_dataset", "method", "metric", "reported", "reported_std", "by_seed", "data"]
CLAIM = ["paper", "claim", "paper_dataset", "tier"]


@dataclass(frozen=True)
class Measurement:
    """One thing that a paper prints and that was or could be measured, however often it is printed. ``setting``: the
    printed settings that tell most. ``settings``: their kind; ``choices``: what is chosen or fitted. ``difference``:
    ours minus printed, with its 95 % interval from ``low`` to ``high``. ``threefold``: the verdict if the paper's seeds
    vary three times as much as ours (where it prints no deviation). ``runs``: what measured it; ``measured``: where."""

    paper: str
    places: tuple[str, ...]
    paper_dataset: str
    method: str
    metric: str
    unit: str
    setting: str
    settings: str
    choices: str
    reported: float
    reported_std: float
    reported_seeds: float
    ours: float
    ours_std: float
    seeds: int
    collapsed: str
    difference: float
    low: float
    high: float
    verdict: NumberVerdict
    would_decide: str
    threefold: str
    p_within_2: float
    p_within_5: float
    p_beyond_5: float
    runs: str
    data: str
    measured: str
    reason: str


def list_measurements(numbers: pd.DataFrame) -> list[Measurement]:
    """The distinct measurements of rows of printed numbers (despur/evidence/tally.py). Numbers of one method and metric
    are one where the same value is printed, our seeds gave the same values, and one's settings are among the
    other's."""
    texts = [field.name for field in fields(Measurement) if field.type is str]
    known = numbers.fillna(dict.fromkeys([*texts, "place", "by_seed"], ""))
    groups = known.groupby(SAME, sort=False, dropna=False)
    return [merge_rows(rows.loc[same]) for _, rows in groups for same in group_repeated(rows)]


def group_repeated(rows: pd.DataFrame) -> list[list[Any]]:
    """The index of rows with one printed value and one measurement, in groups that are one number."""
    groups: list[tuple[dict[str, str], list[Any]]] = []
    for index, text in sorted(rows["setting"].items(), key=lambda pair: -len(parse_settings(pair[1]))):
        own = parse_settings(text)
        known = next((group for group in groups if own.items() <= group[0].items()), None)
        if known is None:
            groups.append((own, [index]))
        else:
            known[1].append(index)
    measured = bool(rows["by_seed"].iloc[0])
    # what was measured by the same seeds is one, also where each table names other settings of it
    return [[index for _, own in groups for index in own]] if measured else [sorted(own) for _, own in groups]


def merge_rows(rows: pd.DataFrame) -> Measurement:
    """The rows of one number as one."""
    longest = rows.loc[rows["setting"].map(lambda text: len(parse_settings(text))).idxmax()]
    kinds = {**longest.to_dict(), "places": tuple(dict.fromkeys(rows["place"]))}
    # a table that prints the point of the grid knows more of a number than one that does not
    best = rows.loc[rows["settings"].map(rank_settings).idxmin()]
    kinds |= {name: best[name] for name in ("settings", "choices", "verdict", "reason")}
    kinds["verdict"] = NumberVerdict(kinds["verdict"])
    return Measurement(**{field.name: kinds.get(field.name, "") for field in fields(Measurement)})


def rank_settings(kind: str) -> int:
    """Fitted first: a number that a setting was found on is never compared, whatever else prints it."""
    order = [Settings.FITTED, Settings.STATED, Settings.SELECTED, Settings.FITTED_ELSEWHERE, Settings.CHOSEN]
    return order.index(Settings(kind)) if kind else len(order)


def judge_together(claims: pd.DataFrame) -> pd.DataFrame:
    """Claims with what all of them together allow. Primary claims that are decided on the papers' data: the verdict by
    Holm's method over all of them. All others: ``q``, the rate of false discoveries at which each stands (Benjamini and
    Hochberg)."""
    decided = claims["tier"].eq(Tier.PAPER) & claims["verdict"].isin(DECIDED)
    primary = decided & claims["primary"].ne("")
    smallest = claims[["p_holds", "p_fails"]].astype(float).min(axis=1)
    table = claims.assign(p=smallest.where(claims["verdict"].isin([*DECIDED, *ORDERS])), q=float("nan"))
    table.loc[primary, "p"] = adjust_holm(smallest[primary].to_numpy(float))
    undecided = primary & ~(table["p"] <= LEVEL)
    table.loc[undecided, "verdict"] = ClaimVerdict.UNDECIDED
    for _, own in table[~primary].groupby("tier"):
        table.loc[own.index, "q"] = adjust_false_discoveries(own["p"].to_numpy(float))
    return table


@dataclass(frozen=True)
class PaperEvidence:
    """What a first screen says of a paper: its ``primary`` claims (rows of claims); of distinct measurements, how many
    have each verdict (``numbers``), how many of these stand at 5 % false discoveries (``standing``), and how many of
    each kind of settings were compared (``settings``); how many ``claims`` have each verdict on the paper's data, on
    its data with another encoder, and on substitutes."""

    paper: str
    primary: pd.DataFrame
    numbers: Mapping[str, int]
    standing: Mapping[str, int]
    settings: Mapping[str, int]
    claims: Mapping[Tier, Mapping[str, int]]


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
    """Every measurement and every claim's verdict of the ledger, of reference runs and of this machine (``scorecard``),
    each from where it has most seeds. Runs on substitute data are of this code alone: no number is compared there, and
    of claims an order is looked at."""
    files = [*sorted(reference.glob("*/scorecard.csv")), *([scorecard] if scorecard and scorecard.exists() else [])]
    return gather_evidence(table for table in map(read_scorecard, files) if "tier" in table)  # else of earlier rules


def read_scorecard(file: Path) -> pd.DataFrame:
    """The rows of a scorecard; what is empty in texts is an empty text."""
    table = pd.read_csv(file, dtype={"setting": str}, low_memory=False)
    texts = [name for name in table if table[name].dtype == object]
    return table.fillna(dict.fromkeys(texts, "")).astype(object)


def gather_evidence(scorecards: Iterable[pd.DataFrame]) -> Evidence:
    """The same of rows of scorecards (despur/reporting/pages/scorecard_counts.py)."""
    tables = list(scorecards)
    if not tables:
        return Evidence([], pd.DataFrame(columns=[*CLAIM, "verdict", "p", "q"]), [], dict.fromkeys(Tier, 0.0))
    rows = pd.concat(tables, ignore_index=True)
    numbers = keep_best(rows[rows["kind_of_row"] == "number"], [*SAME[:4], "setting", "place"])
    measurements = list_measurements(numbers)
    claims = judge_together(keep_best(rows[rows["kind_of_row"] == "claim"], CLAIM).reset_index(drop=True))
    papers = list(dict.fromkeys([*numbers["paper"], *claims["paper"]]))
    judged = {tier: claims[claims["tier"].eq(tier) & claims["p"].notna()] for tier in Tier}
    expected = {tier: WRONG * len(own) for tier, own in judged.items()}
    return Evidence(measurements, claims, list(count_papers(papers, measurements, claims)), expected)


def keep_best(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Of the rows of one number or claim, the one with a verdict, and of these the one with most seeds, the last if
    several have as many."""
    known = rows["verdict"].isin([*MEASURED, *COUNTED, *DECIDED, *ORDERS, NumberVerdict.FITTED, ClaimVerdict.NOT_TUNED])
    seeds = pd.to_numeric(rows["seeds"], errors="coerce").fillna(0)
    ranked = rows.assign(_known=known, _seeds=seeds).sort_values(["_known", "_seeds"], kind="stable")
    kept = ranked.fillna(dict.fromkeys(key, "")).drop_duplicates(key, keep="last").index
    return rows.loc[sorted(kept)]


def count_papers(papers: list[str], measurements: list[Measurement], claims: pd.DataFrame) -> Iterator[PaperEvidence]:
    """What is counted of each paper."""
    table = pd.DataFrame(measurements, columns=[field.name for field in fields(Measurement)])
    for paper in papers:
        own, said = table[table["paper"] == paper], claims[claims["paper"] == paper]
        yield PaperEvidence(
            paper,
            said[said["primary"].ne("")],
            own["verdict"].value_counts().to_dict(),
            count_standing(own),
            own.loc[own["verdict"].isin(MEASURED), "settings"].value_counts().to_dict(),
            {tier: said.loc[said["tier"].eq(tier), "verdict"].value_counts().to_dict() for tier in Tier},
        )
