"""What is known of each paper, in one row and one sentence: for the end of ``make``, the page, the report and the
documents. Every count is one of :func:`despur.evidence.all_evidence.load_evidence`."""

import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from despur.evidence.all_evidence import Evidence, PaperEvidence
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.numbers.verdicts import P_VALUES
from despur.evidence.verdicts import COUNTED, DECIDED, ORDERS, ClaimVerdict, NumberVerdict, Settings, Tier
from despur.orchestration import artifact_files, experiments
from despur.reporting.markdown import escape_star, replace_between, to_markdown
from despur.reporting.pages.judged_claims import (
    NOT_MEASURED,
    describe_primary,
    list_measured_datasets,
    select_own,
    shorten,
)
from despur.reporting.pages.number_lists import select_verdicts
from despur.storage.store import InputError
from despur.storage.texts import write_text

EXPLAINED = Path("docs/reading_results.md")
DOCUMENTS = (*map(Path, ("README.md", "docs/index.md", "docs/tutorial.md")), EXPLAINED)
START, END = "<!-- results: written by make reference and despur ledger report -->", "<!-- end of results -->"
COUNTS = {  # title of a column: the verdicts that it counts
    "within 5 points": [NumberVerdict.WITHIN_2, NumberVerdict.WITHIN_5],
    "beyond 5 points": [NumberVerdict.BEYOND_5],
    "not known": [NumberVerdict.NOT_KNOWN],
    "constant: as printed": [*COUNTED],
    "not compared": [NumberVerdict.FITTED, NumberVerdict.OTHER_SETTINGS, NumberVerdict.NOT_COMPARED],
    "not measured": [*NOT_MEASURED],
}
CLAIMS = "claims on its own data"
WORDS = dict(zip([*DECIDED, *ORDERS], ["hold", "fail", "undecided", "seen", "opposite", "not seen"], strict=True))
ORDERS_SEEN = {  # title of a column: of which orders it counts what is seen
    Tier.OTHER_ENCODER: "orders with another encoder",
    Tier.SUBSTITUTE: "orders on substitutes",
}
DETAILS = ("constant: as printed", "not compared", "settings")  # columns that only EXPLAINED has
LEGEND = {
    CLAIMS: "verdicts on what the paper says of its own data, the primary claims among them",
    "within 5 points, beyond 5 points": "of distinct printed numbers, how many of ours lie within or beyond 5 points "
    "of print (other units: percent)",
    "strict": "those of these verdicts that are sure enough that at most 5 % of all such are false",
    "not known": "runs are too few or too noisy to say it",
    "constant": "what does not vary (counts of data, or the same in all seeds), equal to the last digit",
    "not compared": "run with other settings, or with a setting that was found on the number itself; or not measurable "
    "here, as what the paper copies from others",
    "not measured": "not run on the paper's data",
    "settings": "where the settings of what was compared come from, and how many seeds were trained on which data",
    "orders with another encoder": "orders of claims on the paper's data with features of another encoder, if any",
    "orders on substitutes": "orders of claims on small bundled data; they are no evidence about a paper",
}


@dataclass(frozen=True)
class PaperSummary:
    """``claim``: the primary claim and its verdict, as a sentence; ``cells``: the row, by title of its column."""

    paper: str
    title: str
    claim: str
    cells: dict[str, str]


def summarize_papers(evidence: Evidence) -> list[PaperSummary]:
    """The sentence and the row of each paper. Orders with another encoder have a column where some were looked at."""
    has_others = any(paper.claims[Tier.OTHER_ENCODER] for paper in evidence.papers)
    tiers = [tier for tier in ORDERS_SEEN if has_others or tier != Tier.OTHER_ENCODER]
    return [
        PaperSummary(
            paper.paper,
            experiments.load_experiments(paper.paper)["title"],
            describe_primary(paper.primary, list_measured_datasets(paper.paper, evidence)),
            {
                "primary claim": "; ".join(dict.fromkeys(map(shorten, select_own(paper.primary)["verdict"]))),
                CLAIMS: count_verdicts(paper.claims[Tier.PAPER], DECIDED, paper.standing_claims),
                **{title: count_cell(paper, verdicts) for title, verdicts in COUNTS.items()},
                "settings": describe_settings(paper, evidence),
                **{ORDERS_SEEN[tier]: count_verdicts(paper.claims[tier], ORDERS) for tier in tiers},
            },
        )
        for paper in evidence.papers
    ]


def count_cell(paper: PaperEvidence, verdicts: list[NumberVerdict]) -> str:
    """``10``; ``10 (7 strict)`` where so many stand among all; of what does not vary ``3 of 3``."""
    counts = [paper.numbers.get(verdict, 0) for verdict in verdicts]
    if verdicts == [*COUNTED]:
        return f"{counts[0]} of {sum(counts)}" if sum(counts) else "–"
    if verdicts[0] not in P_VALUES:
        return str(sum(counts))
    return format_standing(sum(counts), sum(paper.standing[verdict] for verdict in verdicts))


def describe_settings(paper: PaperEvidence, evidence: Evidence) -> str:
    """``46 chosen by us, 12 fitted elsewhere; 3 seeds, cmnist_3v5``: of what was compared."""
    compared = [number for number in select_verdicts(evidence.measurements, COMPARED) if number.paper == paper.paper]
    kinds = ", ".join(f"{paper.settings[kind]} {kind}" for kind in Settings if paper.settings.get(kind))
    seeds = sorted({int(measurement.seeds) for measurement in compared if measurement.settings in [*Settings]})
    if not kinds:
        return "–"
    spread = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"{seeds[0]}"
    return f"{kinds}; {spread} seeds of {', '.join(sorted({measurement.paper_dataset for measurement in compared}))}"


def count_verdicts(
    counts: Mapping[str, int], verdicts: Collection[ClaimVerdict], standing: Mapping[str, int] | None = None
) -> str:
    """``12 seen, 1 opposite, 40 not seen``: how many claims have each of these verdicts; ``7 hold (2 strict)`` where so
    many of them stand among all. A dash where none has."""
    cells = [format_standing(n := counts.get(v, 0), (standing or {}).get(v, n), f" {WORDS[v]}") for v in verdicts]
    return ", ".join(cells) if any(counts.get(v) for v in verdicts) else "–"


def format_standing(count: int, standing: int, word: str = "") -> str:
    """``10``; ``10 (7 strict)`` where not all stand."""
    return f"{count}{word}" + (f" ({standing} strict)" if standing < count else "")


def describe_all(evidence: Evidence) -> str:
    """All papers together, in two sentences."""
    compared = len(select_verdicts(evidence.measurements, COMPARED))
    hold, fail, undecided = (sum(paper.claims[Tier.PAPER].get(v, 0) for paper in evidence.papers) for v in DECIDED)
    return (
        f"On the papers' own data, {hold} claims hold, {fail} fail and {undecided} are undecided; {compared} of "
        f"{len(evidence.measurements):,} distinct printed numbers are compared with ours. {EXPLAINED} says what the "
        "columns mean."
    )


def format_lines(papers: list[PaperSummary]) -> Iterator[str]:
    """The table as lines of a terminal: titles in two lines, a line for each paper, below them what is too wide."""
    rows = [{"paper": summary.paper, **summary.cells} for summary in papers]
    below = (CLAIMS, "settings", ORDERS_SEEN[Tier.OTHER_ENCODER])
    titles = {name: fold_title(name) for name in rows[0] if name not in below}
    widths = {name: max(len(text) for text in (*titles[name], *(row[name] for row in rows))) for name in titles}
    for line in [{name: titles[name][part] for name in titles} for part in (0, 1)] + rows:
        cells = (
            line[name].rjust(width) if name in COUNTS else line[name].ljust(width) for name, width in widths.items()
        )
        yield "  ".join(cells).rstrip()
    for name in below:
        yield from (f"{row['paper']}: {name} {row[name]}" for row in rows if row.get(name, "–") != "–")


def fold_title(name: str) -> tuple[str, str]:
    """A title in two lines."""
    first, _, rest = name.partition(": ") if ": " in name else name.rpartition(" ")
    return first, rest


def format_markdown(papers: list[PaperSummary], folder: Path, columns: Collection[str]) -> str:
    """Columns of the table for a document in a folder of the project, with the sentence of each paper."""
    rows = []
    for summary in papers:
        claim = escape_star(summary.claim.partition(": ")[2])
        cells = (summary.cells | {"primary claim": claim}).items()
        link = link_paper(summary.title, summary.paper, folder)
        rows.append([link, *(text for title, text in cells if title in columns)])
    return to_markdown(["paper", *(title for title in papers[0].cells if title in columns)], rows)


def link_paper(text: str, paper: str, folder: Path) -> str:
    """A text with a link from a folder of the project to a paper's README."""
    return f"[{text}]({os.path.relpath(artifact_files.spell_folder(paper) / 'README.md', folder)})"


def replace_summary(text: str, file: Path, papers: list[PaperSummary]) -> str:
    """A document with the table of today between its two marks: its main columns; in the document that explains it, all
    columns and what they mean."""
    explained = file == EXPLAINED
    columns = [title for title in papers[0].cells if explained or title not in DETAILS]
    table = format_markdown(papers, file.parent, columns)
    legend = "\n".join(f"- *{title}*: {meaning}." for title, meaning in LEGEND.items())
    return replace_between(text, START, END, "\n\n".join(["", table, *[legend] * explained, ""]))


def check_marks() -> None:
    """Raises InputError for a document that is missing, or has not the two marks once each."""
    for file in DOCUMENTS:
        if not file.exists():
            raise InputError(f"{file} is not there: start this in the folder of a clone of despur")
        if any(file.read_text().count(mark) != 1 for mark in (START, END)):
            raise InputError(f"{file} must have {START!r} and {END!r}, once each")


def renew_documents(evidence: Evidence) -> Iterator[Path]:
    """Write what is known today into the documents. ``evidence``: without runs of this machine."""
    check_marks()
    papers = summarize_papers(evidence)
    texts = {file: replace_summary(file.read_text(), file, papers) for file in DOCUMENTS}
    for file, text in texts.items():
        write_text(file, text)
        yield file
