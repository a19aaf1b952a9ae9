"""The page *What we found*: of each paper what reproduces, what does not, what is not known and why; the choices that
papers leave open, with their runs and hours. Every word about a result follows from records."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from despur.evidence.all_evidence import Evidence, PaperEvidence, load_evidence
from despur.evidence.ledger import files
from despur.evidence.ledger.record_checks import load_sound
from despur.evidence.ledger.standing import JudgedRecord, judge_records
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.counts import COMPARED, P_VALUES
from despur.evidence.verdicts import COUNTED, MEASURED, ChoiceVerdict, NumberVerdict, Settings
from despur.orchestration.experiments import REFERENCE, load_experiments
from despur.orchestration.paper_folders import find_paper
from despur.reporting.pages.ledger_report import describe_hours, select_records
from despur.reporting.pages.summary import PaperSummary, format_row, summarize_papers
from despur.storage.store import atomic

PAGE, CHOICES = Path("docs/what_we_found.md"), REFERENCE / "ledger/choices.csv"
FEW = 10  # seeds: as many as the reference has
GROUPS = 8  # of numbers that are listed: methods and metrics
INTRODUCTION = """# What we found

After this page you know which printed numbers of the papers reproduce here, which do not, what is not known and why,
and which choices the papers leave open. `despur ledger report` writes it from the [ledger](ledger.md) and from kept
runs; [Reading the results](reading_results.md) explains the verdicts. All of it is measured on the papers' own data;
each distinct printed number counts once. Unless a metric names another split or step, *ours* is of the test split, at
the step that is best on validation data."""


def write_findings() -> Path:
    """Bring the page up to date."""
    records = judge_records(load_sound(files.LEDGER)[0])
    text = format_findings(load_evidence(), pd.read_csv(CHOICES, keep_default_na=False), records)
    with atomic(PAGE) as temporary:
        temporary.write_text(text)
    return PAGE


def format_findings(evidence: Evidence, choices: pd.DataFrame, records: list[JudgedRecord]) -> str:
    """The page. ``choices``: rows of choices.csv."""
    parts = [INTRODUCTION, format_kinds(evidence.measurements)]
    for paper, summary in zip(evidence.papers, summarize_papers(evidence), strict=True):
        measurements = [measurement for measurement in evidence.measurements if measurement.paper == summary.paper]
        parts += [f"## {summary.title}", "\n".join(describe_paper(summary, paper, measurements, records))]
    return "\n\n".join([*parts, *format_choices(choices), "[All pages](index.md)"]) + "\n"


def format_kinds(measurements: Iterable[Measurement]) -> str:
    """A table: of each kind of settings, how many numbers were compared, with which verdicts."""
    verdicts = [*MEASURED, NumberVerdict.AS_PRINTED]
    counts = Counter((measurement.settings, measurement.verdict) for measurement in measurements)
    rows = []
    for kind in Settings:
        kind_counts = [counts[kind, verdict] for verdict in verdicts]
        rows.append([kind.value, *map(str, [sum(kind_counts), *kind_counts])] if any(kind_counts) else [])
    return format_table(["settings", "compared", *verdicts], filter(None, rows))


def format_table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    titles = [*titles]
    return "\n".join(format_row(row) for row in [titles, ["---"] * len(titles), *rows])


def describe_paper(
    summary: PaperSummary, paper: PaperEvidence, measurements: list[Measurement], records: list[JudgedRecord]
) -> Iterator[str]:
    """Items of a list."""
    yield f"- {summary.claim.replace('*”', chr(92) + '*”')}"
    for title, verdicts in (
        ("Reproduces (within 2 or 5 points)", (NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5)),
        ("Does not (beyond 5 points)", (NumberVerdict.BEYOND_5,)),
        ("What does not vary, as printed or not", COUNTED),
    ):
        if decided := select_verdicts(measurements, verdicts):
            yield f"- **{title}**: {describe_standing(decided, paper.standing)}{list_numbers(decided)}."
    if unknown := select_verdicts(measurements, (NumberVerdict.NOT_KNOWN,)):
        yield f"- **Not known**: {len(unknown)} numbers. {describe_unknown(unknown)}"
    if open_numbers := select_verdicts(measurements, (NumberVerdict.NOT_RUN, NumberVerdict.SUBSTITUTE)):
        yield f"- **Not measured**: {len(open_numbers)} numbers ({count_datasets(open_numbers)})."
    yield from describe_fitted(summary.paper, measurements)
    if (find_paper(summary.paper) / "findings.py").exists():
        describe = import_module(f"despur.papers.{summary.paper}.findings").describe_findings
        yield from (f"- {said}" for said in describe(records))
    if own_records := select_records(summary.paper, records):
        yield f"- **Runs**: {len(own_records)} are recorded. {describe_hours(own_records)}"


def describe_standing(decided: list[Measurement], standing: Mapping[str, int]) -> str:
    """``10, of which 0 remain if 5 % of all such verdicts may be false: ``; nothing of what does not vary."""
    verdicts = {measurement.verdict for measurement in decided}
    if not verdicts <= P_VALUES.keys():
        return ""
    remaining = sum(standing[verdict] for verdict in verdicts)
    return f"{len(decided)}, of which {remaining} remain if 5 % of all such verdicts may be false: "


def select_verdicts(measurements: list[Measurement], verdicts: Collection[NumberVerdict]) -> list[Measurement]:
    """The measurements that have one of these verdicts."""
    return [measurement for measurement in measurements if measurement.verdict in verdicts]


def list_numbers(measurements: list[Measurement]) -> str:
    """``test id accuracy of `mmd` 92.9 (ours 95.4; Table 1), 96.3 (97.5; Table 2); ...``, by metric and method."""
    groups: dict[tuple[str, str], list[str]] = {}
    for measurement in measurements:
        words = measurement.metric.replace("_", " "), measurement.method
        ours = f"ours {measurement.ours:.4g}" if words not in groups else f"{measurement.ours:.4g}"
        groups.setdefault(words, []).append(f"{measurement.reported:.4g} ({ours}; {measurement.places[0]})")
    said = [
        f"{metric}{f' of `{method}`' if method else ''} {', '.join(numbers)}"
        for (metric, method), numbers in groups.items()
    ]
    rest = [f"and {len(said) - GROUPS} further methods and metrics"] if len(said) > GROUPS else []
    return "; ".join([*said[:GROUPS], *rest])


def describe_unknown(measurements: list[Measurement]) -> str:
    """What would decide them."""
    needed = [re.fullmatch(r"about (\d+) seeds of ours", measurement.would_decide) for measurement in measurements]
    few = sum(int(match[1]) <= FEW for match in needed if match)
    never = sum(measurement.would_decide.startswith("nothing") for measurement in measurements)
    return (
        f"How many seeds of ours would decide them: at most {FEW} for {few}; more, or the value lies near a limit, for "
        f"{len(measurements) - few - never}; no number of seeds for {never}."
    )


def count_datasets(measurements: list[Measurement]) -> str:
    """``celeba 40, waterbirds 52``: most first."""
    counts = Counter(measurement.paper_dataset for measurement in measurements)
    return ", ".join(f"{name} {count}" for name, count in counts.most_common())


def describe_fitted(paper: str, measurements: list[Measurement]) -> Iterator[str]:
    """The settings that were found on printed numbers, and how other numbers of the same runs compare."""
    rules: dict[str, list[str]] = {}
    for rule in load_experiments(paper).get("fitted", []):
        rules.setdefault(f"`{rule['setting']}` ({rule['found_on']})", []).append(rule["setting"])
    for said, settings in rules.items():
        of_fitted = [
            measurement
            for measurement in measurements
            if any(f"{setting} (" in measurement.choices for setting in settings)
        ]
        judged = Counter(measurement.verdict for measurement in of_fitted if measurement.verdict in COMPARED)
        others = ", ".join(f"{judged[verdict]} {verdict}" for verdict in COMPARED if judged[verdict])
        yield f"- **Found on print**: {said}. Other numbers of such runs: {others or 'none compared yet'}."


def format_choices(choices: pd.DataFrame) -> Iterator[str]:
    """The choices that were tried, and those that were not."""
    tried = choices["seeds"].astype(int) > 0
    rows = [
        [
            *(f"`{row['choice']}`", row["source"], row["found_on"] or "–"),
            *(str(len(row["tried"].split())), str(row["hours"]), describe_verdict(row)),
        ]
        for row in choices[tried].to_dict("records")
    ]
    yield "## Choices that papers leave open"
    yield (
        f"{tried.sum()} of {len(choices)} were tried. Runs with another number of epochs than the paper's are trials: "
        "they support nothing. Numbers that a choice was found on are never compared under it."
    )
    yield format_table(["choice", "source", "found on", "runs", "hours", "verdict (seeds)"], rows)
    yield "Not tried, with the hours of a run on a CPU at the paper's length, as far as runs like it are recorded:"
    yield format_table(
        ["choice", "source", "hours a run"],
        [
            [f"`{row['choice']}`", row["source"], str(row["hours_a_run"] or "not known")]
            for row in choices[~tried].to_dict("records")
        ],
    )


def list_choices() -> list[dict[str, Any]]:
    """The choices of choices.csv, those that were tried first, with the number of their runs and their verdict in
    words; none where that file is not there."""
    if not CHOICES.exists():
        return []
    rows = pd.read_csv(CHOICES, keep_default_na=False).to_dict("records")
    said = [{**row, "runs": len(row["tried"].split()), "verdict": describe_verdict(row)} for row in rows]
    return sorted(said, key=lambda row: not row["runs"])


def describe_verdict(row: Mapping[str, Any]) -> str:
    """``too few seeds (1)``; of one that was judged, how far numbers moved, too."""
    moved = f", moved {row['moved']} points" if row["moved"] else ""
    count = "" if row["verdict"] == ChoiceVerdict.NOT_TRIED else f" ({row['seeds']})"
    return f"{row['verdict']}{count}{moved}"
