"""What is known of each paper; for its README, its claims, what is not known and why, what is open, and the runs behind
it. Every word about a result follows from records."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from despur.evidence.all_evidence import Evidence
from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.measurements import Measurement
from despur.evidence.runs.sources import Sources
from despur.evidence.verdicts import MEASURED, NumberVerdict
from despur.orchestration.paper_folders import find_paper
from despur.reporting.markdown import escape_star, replace_between
from despur.reporting.open_runs import OpenRuns
from despur.reporting.pages.judged_claims import (
    NOT_MEASURED,
    describe_claims,
    describe_other_encoder,
    select_judged,
    select_own,
)
from despur.reporting.pages.ledger_report import report_records, select_records
from despur.reporting.pages.number_lists import (
    count_datasets,
    describe_unknown,
    list_numbers,
    select_verdicts,
)
from despur.reporting.pages.open_work import describe_open_work, list_open_work
from despur.reporting.pages.summary import PaperSummary, summarize_papers
from despur.storage.texts import write_text

MARKS = ("<!-- generated: measured -->\n", "<!-- end -->")


@dataclass(frozen=True)
class PaperFindings:
    """What is known of a paper. ``claims``: rows of all tiers. ``records``: those that count. ``open_work``: runs that
    numbers and claims wait for, on the data sets that were measured."""

    summary: PaperSummary
    claims: pd.DataFrame
    measurements: list[Measurement]
    records: list[JudgedRecord]
    open_work: list[OpenRuns]

    @property
    def paper(self) -> str:
        """Its name in paths."""
        return self.summary.paper


def gather_findings(evidence: Evidence, records: list[JudgedRecord]) -> list[PaperFindings]:
    """What is known of each paper. ``records``: the whole ledger."""
    sources = Sources(where={judged.key: str(judged.record.path) for judged in records if not judged.reason})
    findings = []
    for summary in summarize_papers(evidence):
        measurements = [measurement for measurement in evidence.measurements if measurement.paper == summary.paper]
        datasets = {measurement.paper_dataset for measurement in measurements if measurement.verdict in MEASURED}
        claims = evidence.claims[evidence.claims["paper"].eq(summary.paper)]
        own_records = select_records(summary.paper, records)
        open_work = list_open_work(summary.paper, datasets, sources) if datasets else []
        findings.append(PaperFindings(summary, claims, measurements, own_records, open_work))
    return findings


def write_readmes(findings: list[PaperFindings]) -> Iterator[tuple[str, Path]]:
    """Bring every README up to date; (paper, file) of each that changed."""
    for found in findings:
        file = find_paper(found.paper) / "README.md"
        new = replace_between(text := file.read_text(), *MARKS, report_paper(found))
        if new != text:
            write_text(file, new)
            yield found.paper, file


def report_paper(found: PaperFindings) -> str:
    """What a README says between its marks."""
    return "\n".join(describe_paper(found)) + "\n\n" + report_records(found.records)


def describe_paper(found: PaperFindings) -> Iterator[str]:
    """Items of a list."""
    measurements = found.measurements
    yield f"- {escape_star(found.summary.claim)}"
    yield from describe_claims(select_judged(select_own(found.claims)))
    if other := select_verdicts(measurements, (NumberVerdict.OTHER_SETTINGS,)):
        places = dict.fromkeys(place for measurement in other for place in measurement.places)
        yield (
            f"- **Measured with other settings or another encoder than print's**, so not compared: {len(other)} "
            f"({', '.join(places)})."
        )
    yield from describe_not_compared(select_verdicts(measurements, (NumberVerdict.NOT_COMPARED,)))
    if unknown := select_verdicts(measurements, (NumberVerdict.NOT_KNOWN,)):
        yield f"- **Not known**: {len(unknown)} numbers. {describe_unknown(unknown)}"
    if open_numbers := select_verdicts(measurements, NOT_MEASURED):
        yield f"- **Not measured**: {len(open_numbers)} numbers ({count_datasets(open_numbers)})."
    yield from describe_open_work(found.open_work)
    yield from describe_other_encoder(found.claims)


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
