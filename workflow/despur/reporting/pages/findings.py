"""The page *What we found*: of each paper what reproduces, what does not, what is not known and why; the settings
that were found on printed numbers, with their runs and hours. Every word about a result follows from records."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from despur.evidence.all_evidence import Evidence, PaperEvidence, load_evidence
from despur.evidence.claims.claim_evidence import format_estimate
from despur.evidence.ledger import files
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import JudgedRecord, judge_records
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.numbers.printed import parse_settings
from despur.evidence.numbers.settings import is_at, is_same_number, list_fitted_methods
from despur.evidence.verdicts import COUNTED, DECIDED, MEASURED, ClaimVerdict, NumberVerdict, Settings, Tier
from despur.orchestration.experiments import load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.reporting.pages.ledger_report import describe_hours, select_records
from despur.reporting.pages.markdown import escape_star, format_table
from despur.reporting.pages.number_lists import (
    count_datasets,
    describe_if_normal,
    describe_standing,
    describe_unknown,
    list_numbers,
    select_verdicts,
)
from despur.reporting.pages.summary import PaperSummary, summarize_papers
from despur.specs.names import parse
from despur.storage.store import atomic

PAGE = Path("docs/what_we_found.md")
INTRODUCTION = """# What we found

After this page you know which printed numbers of the papers reproduce here, which do not, and what is not known and
why. `despur ledger report` writes it from the [ledger](ledger.md); [Reading the results](reading_results.md) explains
the verdicts, [Choices that papers leave open](open_choices.md) lists what was tried of each, and `make verdicts` shows
every number, of which some stand here as examples. All of it is measured on the papers' own data; each distinct printed
number counts once. *Ours* is of the test split unless the metric names another one, and of the model that the method
keeps: where validation data select a step, that with the best worst group (of equals, the best average), else the last.
*Within 5* is not *equal*: the whole interval of the difference lies within 5 points. With three seeds hardly any such
verdict can remain where only 5 % of all may be false."""


def write_findings() -> Path:
    """Bring the page up to date."""
    records = judge_records(load_sound(files.LEDGER)[0])
    text = format_findings(load_evidence(), records)
    with atomic(PAGE) as temporary:
        temporary.write_text(text)
    return PAGE


def format_findings(evidence: Evidence, records: list[JudgedRecord]) -> str:
    """The page."""
    parts = [INTRODUCTION, format_kinds(evidence.measurements)]
    for paper, summary in zip(evidence.papers, summarize_papers(evidence), strict=True):
        measurements = [measurement for measurement in evidence.measurements if measurement.paper == summary.paper]
        claims = evidence.claims[evidence.claims["paper"].eq(summary.paper)]
        parts += [f"## {summary.title}", "\n".join(describe_paper(summary, paper, claims, measurements, records))]
    return "\n\n".join([*parts, "[All pages](index.md)"]) + "\n"


def format_kinds(measurements: Iterable[Measurement]) -> str:
    """A table: of each kind of settings, how many numbers were compared, with which verdicts."""
    verdicts = [*MEASURED, *COUNTED]
    counts = Counter((measurement.settings, measurement.verdict) for measurement in measurements)
    rows = []
    for kind in Settings:
        kind_counts = [counts[kind, verdict] for verdict in verdicts]
        rows.append([kind.value, *map(str, [sum(kind_counts), *kind_counts])] if any(kind_counts) else [])
    return format_table(["settings", "compared", *verdicts], filter(None, rows))


def describe_paper(
    summary: PaperSummary,
    paper: PaperEvidence,
    claims: pd.DataFrame,
    measurements: list[Measurement],
    records: list[JudgedRecord],
) -> Iterator[str]:
    """Items of a list."""
    yield f"- {escape_star(summary.claim)}"
    yield from describe_claims(claims)
    for title, verdicts in (
        ("Within 2 or 5 points of print", (NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5)),
        ("Beyond 5 points", (NumberVerdict.BEYOND_5,)),
        ("What does not vary, as printed or not", COUNTED),
    ):
        if decided := select_verdicts(measurements, verdicts):
            yield f"- **{title}**: {describe_standing(decided, paper.standing)}{list_numbers(decided)}."
    if unknown := select_verdicts(measurements, (NumberVerdict.NOT_KNOWN,)):
        yield f"- **Not known**: {len(unknown)} numbers. {describe_unknown(unknown)}{describe_if_normal(unknown)}"
    if open_numbers := select_verdicts(measurements, (NumberVerdict.NOT_RUN, NumberVerdict.SUBSTITUTE)):
        yield f"- **Not measured**: {len(open_numbers)} numbers ({count_datasets(open_numbers)})."
    own_records = select_records(summary.paper, records)
    yield from describe_fitted(summary.paper, measurements, own_records)
    if (find_paper(summary.paper) / "findings.py").exists():
        describe = import_module(f"despur.papers.{summary.paper}.findings").describe_findings
        yield from (f"- {said}" for said in describe(records))
    if own_records:
        yield f"- **Runs**: {len(own_records)} are recorded. {describe_hours(own_records)}"


def describe_claims(claims: pd.DataFrame) -> Iterator[str]:
    """The claims that were judged on the paper's own data, with the contrast nearest its margin."""
    judged = claims[claims["tier"].eq(Tier.PAPER) & claims["verdict"].isin([*DECIDED, ClaimVerdict.NOT_TUNED])]
    if not len(judged):
        return
    yield "- **Claims on the paper's data**, with the contrast nearest its margin and its 95 % interval:"
    for row in judged.itertuples():
        would = " would decide it" if re.match("about|at least", row.advice) else ""
        settled = f"; {row.advice}{would}" if row.advice else f"; {row.reason}" if row.reason else ""
        said = escape_star(f"“{row.statement}”")
        numbers = row.estimate, row.low, row.high
        measured = f"{format_estimate(*numbers)} ({row.seeds} seeds): " if not any(map(pd.isna, numbers)) else ""
        yield f"  - {said}: {measured}{row.verdict}{settled}"
    screened = sorted({part for text in judged["settings"] for part in text.split("; ") if part})
    if screened:
        yield f"  - Settings behind these claims: {'; '.join(screened)}."


def describe_fitted(paper: str, measurements: list[Measurement], records: list[JudgedRecord]) -> Iterator[str]:
    """The settings that were found on printed numbers, what they give there, how other numbers of the same runs
    compare, and what these runs took. ``records``: those of the paper that count."""
    experiments = load_experiments(paper)
    rules: dict[str, list[Mapping[str, Any]]] = {}
    for rule in experiments.get("fitted", []):
        methods = f" of {', '.join(f'`{method}`' for method in rule['methods'])}" if "methods" in rule else ""
        rules.setdefault(f"`{rule['setting']}`{methods} ({rule['found_on']}", []).append(rule)
    for said, same in rules.items():
        of_fitted = [
            measurement
            for measurement in measurements
            if any(f"{rule['setting']} (" in measurement.choices for rule in same)
        ]
        judged = Counter(measurement.verdict for measurement in of_fitted if measurement.verdict in COMPARED)
        others = ", ".join(f"{judged[verdict]} {verdict}" for verdict in COMPARED if judged[verdict])
        there = [f"{measurement.ours:.4g}" for measurement in of_fitted if was_found_on(measurement, same)]
        ours = f"; ours {', '.join(there)}" if there else ""
        runs = [judged for judged in records if any(is_run_of(rule, experiments, judged.key) for rule in same)]
        hours = sum(judged.record.content["run"]["seconds"] for judged in runs) / 3600
        took = f"{len(runs)} runs, {hours:.1f} hours"
        yield f"- **Found on print**: {said}{ours}; {took}). Other numbers: {others or 'none compared'}."


def is_run_of(rule: Mapping[str, Any], experiments: Mapping[str, Any], key: str) -> bool:
    """Whether a recorded run is one that a rule of ``fitted`` is about."""
    data, method, _ = key.split("/")
    methods = list_fitted_methods(experiments, rule)
    is_about = not methods or parse(method)[0] in methods
    ((name, value),) = parse_settings(rule["setting"]).items()
    return is_about and is_at(data, method, name, value)


def was_found_on(measurement: Measurement, rules: Iterable[Mapping[str, Any]]) -> bool:
    """Whether one of these rules was found on a number."""
    number = SimpleNamespace(**vars(measurement), dataset=measurement.paper_dataset)
    found_on = [wanted for rule in rules for wanted in rule["numbers"]]
    return measurement.verdict == NumberVerdict.FITTED and any(is_same_number(wanted, number) for wanted in found_on)
