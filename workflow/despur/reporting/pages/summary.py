"""The results in one table: of each paper how many distinct printed numbers have which verdict, and how many
claims.
For the README from the scorecards that are kept in results/reference, for the report from the run's own.

    python -m despur.reporting.pages.summary README.md
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from despur.evidence import tally
from despur.evidence.measurements import list_measurements
from despur.evidence.numbers.counts import COMPARED
from despur.evidence.verdicts import DECIDED, ORDERS
from despur.orchestration import experiments
from despur.reporting.pages.scorecard_counts import COLUMNS, count_verdicts
from despur.storage.store import InputError, atomic

REFERENCE = experiments.PAPERS.parents[2] / experiments.REFERENCE
START, END = "<!-- results: written by make reference and despur ledger report -->", "<!-- end of results -->"
TITLES = ["paper", "printed numbers", "distinct measurements", "claims on the paper's data", "orders on substitutes"]


def load_scorecards() -> pd.DataFrame:
    """The rows of all kept scorecards that give verdicts as today; none where none is kept."""
    files = sorted(REFERENCE.glob("*/scorecard.csv"))
    tables = [pd.read_csv(file, dtype={"setting": str}, low_memory=False) for file in files]
    tables = [table for table in tables if "tier" in table]  # else of earlier rules
    if not tables:
        return pd.DataFrame(columns=COLUMNS)
    return pd.concat([table.astype(object) for table in tables], ignore_index=True)  # one may have an empty column


def format_counts(found: Mapping[str, int], order: Iterable[str]) -> str:
    """``12 holds, 3 undecided``; a dash for none."""
    return ", ".join(f"{found[word]} {word}" for word in order if found.get(word)) or "–"


def summarize_paper(scorecard: pd.DataFrame, paper: str) -> list[str]:
    """The cells of a paper, behind its title."""
    own = scorecard[scorecard["paper"] == paper]
    found = count_verdicts(own)
    numbers = own[(own["kind_of_row"] == "number") & own["verdict"].isin(COMPARED)]
    distinct = Counter(str(each.verdict) for each in list_measurements(numbers)) if len(numbers) else {}
    claims = [format_counts(found[data], order) for data, order in (("own", DECIDED), ("substitute", ORDERS))]
    return [str(len(tally.list_printed(paper))), format_counts(distinct, COMPARED), *claims]


def format_summary() -> str:
    """The table of all papers and all kept scorecards, in Markdown."""
    scorecards, rows = load_scorecards(), [TITLES, ["---"] * len(TITLES)]
    for paper in experiments.list_papers():
        link = f"[{experiments.load_experiments(paper)['title']}](workflow/despur/papers/{paper}/README.md)"
        rows.append([link, *summarize_paper(scorecards, paper)])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def format_first_page(scorecard: pd.DataFrame) -> str:
    """A sentence for each paper of one run, in reStructuredText."""
    parts = []
    for paper in experiments.list_papers():
        if (scorecard["paper"] == paper).any():
            printed, compared, own, substitute = summarize_paper(scorecard, paper)
            numbers = f"Of {printed} printed numbers, distinct and compared: {compared}.".replace("–", "none")
            claims = f"Claims on the paper's data: {own}; seen on substitutes: {substitute}.".replace(
                "–", "none judged"
            )
            parts.append(f"{experiments.load_experiments(paper)['title']}\n   {numbers} {claims}\n")
    return "\n".join(parts)


def check_marks(text: str) -> None:
    """Raises InputError for a text without the two marks."""
    if text.count(START) != 1 or text.count(END) != 1:
        raise InputError(f"the README must have {START!r} and {END!r}, once each")


def replace_summary(text: str) -> str:
    """A text with the table of today between its two marks."""
    check_marks(text)
    return re.sub(
        f"{re.escape(START)}.*{re.escape(END)}",
        lambda _: f"{START}\n\n{format_summary()}\n\n{END}",
        text,
        flags=re.DOTALL,
    )


def renew_summary(file: Path) -> None:
    """Write the table of today into a text."""
    text = replace_summary(file.read_text())
    with atomic(file) as temporary:
        temporary.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a text with the two marks")
    renew_summary(parser.parse_args().file)


if __name__ == "__main__":
    main()
