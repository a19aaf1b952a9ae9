"""The page *What we found*, in tables: what reproduces, what does not, which settings were found on printed
numbers, with their runs and hours, and what is open. Every word about a result follows from records."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from pathlib import Path

import pandas as pd

from despur.evidence.all_evidence import Evidence
from despur.evidence.ledger.standing import JudgedRecord
from despur.evidence.measurements import Measurement
from despur.evidence.numbers.counts import COMPARED, RATE
from despur.evidence.verdicts import COUNTED, MEASURED, ClaimVerdict, NumberVerdict, Settings
from despur.orchestration.experiments import PUBLISHED
from despur.reporting.markdown import escape_star, to_markdown
from despur.reporting.pages.fitted_settings import describe_choices
from despur.reporting.pages.judged_claims import JUDGED, format_q, select_decided, select_own
from despur.reporting.pages.number_lists import (
    count_datasets,
    format_place,
    format_printed,
    group_numbers,
    is_beyond_if_normal,
    select_verdicts,
)
from despur.reporting.pages.open_work import describe_group
from despur.reporting.pages.paper_findings import PaperFindings
from despur.reporting.pages.summary import CLAIMS, COUNTS, link_paper
from despur.reporting.printed_names import METRICS, NAMES

PAGE = Path("docs/what_we_found.md")
NEAR = (NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5)
INTRODUCTION = """# What we found

After this page you know which printed numbers and claims of the papers reproduce on their own data, which do not, and
which unstated choices matter. `despur ledger report` writes it from the [ledger](ledger.md). Details are in the paper's
README (first column), in [Claims on the papers' data](judged_claims.md) and in
[Choices that papers leave open](open_choices.md). [Reading the results](reading_results.md) explains the verdicts."""


def format_findings(evidence: Evidence, records: list[JudgedRecord], findings: list[PaperFindings]) -> str:
    """The page. ``records``: the whole ledger."""
    parts = [INTRODUCTION, describe_all(evidence, records), tabulate_papers(findings)]
    parts += ["Settings of these numbers (*fitted elsewhere*: one was found on other printed numbers):"]
    parts += [format_kinds(evidence.measurements)]
    for title, describe in SECTIONS.items():
        parts += [f"## {title}", *(describe(findings) or ["None so far."])]
    return "\n\n".join([*parts, "[All pages](index.md)"]) + "\n"


def tabulate_papers(findings: list[PaperFindings]) -> str:
    """A table: how many claims and numbers of each paper have each verdict."""
    columns = [CLAIMS, *COUNTS]
    rows = [
        [link_paper(found.paper, found.paper, PAGE.parent), *(found.summary.cells[title] for title in columns)]
        for found in findings
    ]
    return to_markdown(["paper", *columns], rows)


def tabulate_claims(findings: list[PaperFindings]) -> list[str]:
    """A table of the claims that are decided, the surest first."""
    own = select_own(pd.concat([found.claims for found in findings]))
    decided = select_decided(own)
    surest = decided.assign(q=decided["q"].astype(float)).sort_values("q", kind="stable", na_position="first")
    rows = [
        [row.verdict, f"{escape_star(row.statement)} (`{row.paper}`: {row.paper_dataset})", format_q(row.q)]
        for row in surest.itertuples()
    ]
    said = (
        "Each verdict is for itself. Among many some are wrong by chance: *q* is the share of false verdicts among all "
        f"that are as sure as this one; up to {RATE:g} they count as *strict*."
    )
    return [said, to_markdown(["verdict", "claim", "q"], rows)] if rows else []


def describe_numbers(findings: list[PaperFindings]) -> list[str]:
    """A table of the numbers with a verdict, a row for each paper and metric, the first number of each method."""
    rows = [
        [title, f"`{found.paper}`: {data}", METRICS.get(metric, metric), "; ".join(list_methods(numbers))]
        for title, select in VERDICTS.items()
        for found in findings
        for (data, metric), numbers in groupby(sorted(filter(select, found.measurements), key=get_metric), get_metric)
    ]
    said = (
        "The first number of each method; *2 more*: two further ones have the same verdict. *Perhaps beyond 5* "
        "is no verdict: a 90 % interval that takes seeds as normal says so. What a number may owe to a choice of ours: "
        "see the next part."
    )
    return [said, to_markdown(["verdict", "paper: data", "metric", "print → ours"], rows)] if rows else []


def get_metric(measurement: Measurement) -> tuple[str, str]:
    """By which numbers are grouped: the data set, and the words of the metric's key."""
    return measurement.paper_dataset, measurement.metric.replace("_", " ")


def list_methods(numbers: Iterable[Measurement]) -> Iterator[str]:
    """``MMD 92.9 % → 95.4 (Table 1; 2 more)``, of each method."""
    for first, *more in group_numbers(numbers):
        printed, ours = format_printed(first)
        where = "; ".join([format_place(first), *([f"{len(more)} more"] if more else [])])
        name = escape_star(NAMES[first.method]) if first.method else ""
        yield " ".join(filter(None, [name, f"{printed} → {ours} ({where})"]))


def describe_open(findings: list[PaperFindings]) -> list[str]:
    """What waits for runs on the data sets that were measured."""
    said = [f"- `{found.paper}`: {describe_group(found.open_work)}." for found in findings if found.open_work]
    command = f"`despur plan --open --configfile {PUBLISHED} --device cpu`"
    note = f"In hours of a CPU core, at most; {command} lists the runs, those of grids with `sweep: true` in it."
    return [note, "\n".join(said)] if said else []


VERDICTS: dict[str, Callable[[Measurement], bool]] = {
    "within 2 or 5": lambda number: number.verdict in NEAR,
    "beyond 5": lambda number: number.verdict == NumberVerdict.BEYOND_5,
    "perhaps beyond 5": is_beyond_if_normal,
    "as printed": lambda number: number.verdict == NumberVerdict.AS_PRINTED,
    "not as printed": lambda number: number.verdict == NumberVerdict.NOT_AS_PRINTED,
}
SECTIONS = {
    "Claims that are decided": tabulate_claims,
    "Numbers with a verdict": describe_numbers,
    "Choices that papers leave open": describe_choices,
    "Open for want of time alone": describe_open,
}


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
        f"({count_datasets(compared)}): {near} within 2 or 5 points of print ({remaining} of them *strict*: at most "
        f"5 % of all such verdicts are false), {numbers[NumberVerdict.BEYOND_5]} beyond 5 points; "
        f"{numbers[NumberVerdict.NOT_KNOWN]} are not known: runs are too few or noisy{describe_direction(unknown)}. "
        f"{len(fixed)} more do not vary ({data_counts} are counts of data): {numbers[NumberVerdict.AS_PRINTED]} are as "
        "printed."
    )


def describe_claim_counts(verdicts: "pd.Series[str]") -> str:
    """How many claims have each verdict."""
    counts = ", ".join(f"{verdict} {verdicts.eq(verdict).sum()}" for verdict in JUDGED)
    never = verdicts.eq(ClaimVerdict.NOT_EXECUTED).sum()
    return (
        f"Of {len(verdicts)} claims on the papers' own data, counted for each data set: {counts}, not run "
        f"{len(verdicts) - verdicts.isin(JUDGED).sum() - never}, cannot be tested {never}."
    )


def describe_direction(unknown: Iterable[Measurement]) -> str:
    """How many numbers are perhaps beyond 5 points, and how many of these are above print."""
    beyond = [*filter(is_beyond_if_normal, unknown)]
    above = sum(measurement.difference > 0 for measurement in beyond)
    return f" ({len(beyond)} are perhaps beyond 5 points, **{above} of these above print**)" if beyond else ""


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
