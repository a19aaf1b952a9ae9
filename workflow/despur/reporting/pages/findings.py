"""The page *What we found*: of each paper what reproduces, what does not, what is not known and why; the settings
that were found on printed numbers, with their runs and hours. Every word about a result follows from records."""

from collections import Counter
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path

import pandas as pd

from despur.evidence.all_evidence import Evidence, PaperEvidence
from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.runs.sources import Sources
from despur.evidence.verdicts import COUNTED, MEASURED, ClaimVerdict, NumberVerdict, Settings
from despur.orchestration.paper_folders import find_paper
from despur.reporting.markdown import escape_star, to_markdown
from despur.reporting.pages.fitted_settings import describe_fitted
from despur.reporting.pages.judged_claims import (
    JUDGED,
    NOT_MEASURED,
    describe_claims,
    describe_other_encoder,
    select_judged,
    select_own,
)
from despur.reporting.pages.ledger_report import describe_hours, select_records
from despur.reporting.pages.number_lists import (
    count_datasets,
    describe_if_normal,
    describe_standing,
    describe_unknown,
    list_numbers,
    select_verdicts,
    split_if_normal,
)
from despur.reporting.pages.open_work import describe_open_work, list_open_work
from despur.reporting.pages.summary import PaperSummary, summarize_papers

PAGE = Path("docs/what_we_found.md")
NEAR = (NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5)
INTRODUCTION = """# What we found

After this page you know which printed numbers of the papers reproduce here, which do not, and what is not known and
why. `despur ledger report` writes it from the [ledger](ledger.md); [Reading the results](reading_results.md) explains
the verdicts, [Choices that papers leave open](open_choices.md) lists what was tried of each, and `make verdicts` shows
every number, of which some stand here as examples.

All of it is measured on the papers' own data; each distinct printed number counts once. *Ours* is of the test split
unless the metric names another one, and of the model that the method keeps: where validation data select a step, that
with the best worst group (of equals, the best average), else the last. *Within 5* is not *equal*: the whole interval of
the difference lies within 5 points. *Beyond 5* may be due to a choice that the paper leaves open. With three seeds
hardly any such verdict can remain where only 5 % of all may be false."""


def format_findings(evidence: Evidence, records: list[JudgedRecord]) -> str:
    """The page."""
    parts = [INTRODUCTION, describe_all(evidence, records), format_kinds(evidence.measurements)]
    for paper, summary in zip(evidence.papers, summarize_papers(evidence), strict=True):
        measurements = [measurement for measurement in evidence.measurements if measurement.paper == summary.paper]
        claims = evidence.claims[evidence.claims["paper"].eq(summary.paper)]
        parts += [f"## {summary.title}", "\n".join(describe_paper(summary, paper, claims, measurements, records))]
    return "\n\n".join([*parts, "[All pages](index.md)"]) + "\n"


def describe_all(evidence: Evidence, records: list[JudgedRecord]) -> str:
    """What was found of all papers, in four sentences."""
    seconds = sum(judged.record.content["run"]["seconds"] for judged in records if not judged.reason)
    return (
        f"{count_numbers(evidence)} {describe_claim_counts(select_own(evidence.claims)['verdict'])} Training took "
        f"{seconds / 3600:.0f} hours (stage 2 of the recorded runs)."
    )


def count_numbers(evidence: Evidence) -> str:
    """How many printed numbers are compared, and with which verdicts."""
    numbers = Counter(measurement.verdict for measurement in evidence.measurements)
    compared = select_verdicts(evidence.measurements, COMPARED)
    unknown = select_verdicts(compared, (NumberVerdict.NOT_KNOWN,))
    near = sum(numbers[verdict] for verdict in NEAR)
    remaining = sum(paper.standing[verdict] for paper in evidence.papers for verdict in NEAR)
    fixed = select_verdicts(compared, COUNTED)
    data_counts = sum(not measurement.settings for measurement in fixed)
    return (
        f"**Of {len(evidence.measurements)} distinct printed numbers {len(compared)} are compared with ours** "
        f"({count_datasets(compared)}): {near} lie within 2 or 5 points of print, of which {remaining} remain if 5 % "
        f"of all such verdicts may be false; {numbers[NumberVerdict.BEYOND_5]} lie beyond 5 points; of "
        f"{numbers[NumberVerdict.NOT_KNOWN]} neither is shown{describe_direction(unknown)}; {len(fixed)} do not vary "
        f"({data_counts} count data), of which {numbers[NumberVerdict.AS_PRINTED]} are as printed."
    )


def describe_claim_counts(verdicts: "pd.Series[str]") -> str:
    """How many claims have each verdict."""
    counts = ", ".join(f"{verdict} {verdicts.eq(verdict).sum()}" for verdict in JUDGED)
    never = verdicts.eq(ClaimVerdict.NOT_EXECUTED).sum()
    return (
        f"Of {len(verdicts)} claims, each of a data set, on the papers' own data: {counts}, not run "
        f"{len(verdicts) - verdicts.isin(JUDGED).sum() - never}, cannot be tested {never}."
    )


def describe_direction(unknown: Iterable[Measurement]) -> str:
    """How many numbers are beyond 5 points if seeds are normal, and how many of these are above print."""
    beyond, above = split_if_normal(unknown)
    return f", though {len(beyond)} lie beyond if seeds are normal, **{above} of them above print**" if beyond else ""


def format_kinds(measurements: Iterable[Measurement]) -> str:
    """A table: of each kind of settings, how many numbers were compared, with which verdicts."""
    verdicts = [*MEASURED, *COUNTED]
    counts = Counter((measurement.settings, measurement.verdict) for measurement in measurements)
    rows = []
    for kind in (*Settings, ""):
        kind_counts = [counts[kind, verdict] for verdict in verdicts]
        title = kind or "none (counts of data)"
        rows.append([title, *map(str, [sum(kind_counts), *kind_counts])] if any(kind_counts) else [])
    return to_markdown(["settings", "compared", *verdicts], filter(None, rows))


def describe_paper(
    summary: PaperSummary,
    paper: PaperEvidence,
    claims: pd.DataFrame,
    measurements: list[Measurement],
    records: list[JudgedRecord],
) -> Iterator[str]:
    """Items of a list."""
    yield f"- {escape_star(summary.claim)}"
    yield from describe_claims(select_judged(select_own(claims)))
    for title, verdicts in (
        ("Within 2 or 5 points of print", NEAR),
        ("Beyond 5 points", (NumberVerdict.BEYOND_5,)),
        ("What does not vary, as printed or not", COUNTED),
    ):
        if decided := select_verdicts(measurements, verdicts):
            yield f"- **{title}**: {describe_standing(decided, paper.standing, verdicts)}{list_numbers(decided)}."
    if other := select_verdicts(measurements, (NumberVerdict.OTHER_SETTINGS,)):
        places = dict.fromkeys(place for measurement in other for place in measurement.places)
        yield (
            f"- **Measured with other settings or another encoder than print's**, so not compared: {len(other)} "
            f"({', '.join(places)})."
        )
    yield from describe_not_compared(select_verdicts(measurements, (NumberVerdict.NOT_COMPARED,)))
    if unknown := select_verdicts(measurements, (NumberVerdict.NOT_KNOWN,)):
        yield f"- **Not known**: {len(unknown)} numbers. {describe_unknown(unknown)}{describe_if_normal(unknown)}"
    if open_numbers := select_verdicts(measurements, NOT_MEASURED):
        yield f"- **Not measured**: {len(open_numbers)} numbers ({count_datasets(open_numbers)})."
    if measured_datasets := {number.paper_dataset for number in measurements if number.verdict in MEASURED}:
        sources = Sources(where={judged.key: str(judged.record.path) for judged in records if not judged.reason})
        yield from describe_open_work(list_open_work(summary.paper, measured_datasets, sources))
    yield from describe_other_encoder(claims)
    own_records = select_records(summary.paper, records)
    yield from describe_fitted(summary.paper, measurements, own_records)
    if (find_paper(summary.paper) / "findings.py").exists():
        describe = import_module(f"despur.papers.{summary.paper}.findings").describe_findings
        yield from (f"- {said}" for said in describe(records))
    if own_records:
        yield f"- **Runs**: {len(own_records)} count. {describe_hours(own_records)}"


def describe_not_compared(measurements: list[Measurement]) -> Iterator[str]:
    """What cannot be compared, by reason: what was measured, and how many other numbers."""
    measured: dict[str, list[Measurement]] = {}
    others = Counter[str]()
    for measurement in measurements:
        if measurement.method and not pd.isna(measurement.ours):
            measured.setdefault(measurement.reason, []).append(measurement)
        else:
            others[measurement.reason] += 1
    if measured:
        said = "; ".join(f"{reason}: {list_numbers(same)}" for reason, same in measured.items())
        yield f"- **Measured, and not comparable**: {escape_star(said)}."
    if others:
        said = "; ".join(f"{count} ({reason})" for reason, count in others.items())
        yield f"- **Further numbers that are not compared**, with the reason: {escape_star(said)}."
