"""The results in one table: of each paper how many printed numbers were compared and agree, and how many claims hold.
For the README from the scorecards that are kept in results/reference, for the report from the run's own.

    python -m despur.reporting.pages.summary README.md
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from despur.evidence.numbers.verdicts import COMPARED
from despur.orchestration import experiments
from despur.reporting.pages import tally
from despur.reporting.pages.scorecard_counts import COLUMNS, count_measurements, count_verdicts
from despur.storage.store import InputError, atomic

REFERENCE = experiments.PAPERS.parents[2] / experiments.REFERENCE
START, END = "<!-- results: written by make reference and despur ledger report -->", "<!-- end of results -->"
TITLES = ["paper", "printed numbers", "compared numbers", "claims on the paper's data", "claims on substitutes"]


def load_scorecards() -> pd.DataFrame:
    """The rows of all kept scorecards; none where none is kept."""
    files = sorted(REFERENCE.glob("*/scorecard.csv"))
    if not files:
        return pd.DataFrame(columns=COLUMNS)
    tables = [pd.read_csv(file, dtype={"setting": str}, low_memory=False) for file in files]
    return pd.concat([table.astype(object) for table in tables], ignore_index=True)  # one may have an empty column


def format_claims(found: dict[str, int]) -> str:
    """``12 hold, 1 fails, 3 undecided``; a dash where none was judged."""
    if not sum(found.values()):
        return "–"
    holds, fails = found["holds"], found["fails"]
    return f"{holds} hold{'s' * (holds == 1)}, {fails} fail{'s' * (fails == 1)}, {found['undecided']} undecided"


def format_numbers(found: dict[str, int]) -> str:
    """``1 agrees, 5 differ, 3 too noisy``; a dash where none was compared."""
    if not sum(found[verdict] for verdict in COMPARED):
        return "–"
    agree, differ, noisy = (found[verdict] for verdict in COMPARED)
    return f"{agree} agree{'s' * (agree == 1)}, {differ} differ{'s' * (differ == 1)}, {noisy} too noisy"


def summarize_paper(scorecard: pd.DataFrame, paper: str) -> list[str]:
    """The cells of a paper, behind its title."""
    own = scorecard[scorecard["paper"] == paper]
    found = count_verdicts(own)
    claims = [format_claims(found[data]) for data in ("own", "substitute")]
    numbers = format_numbers(found["numbers"]) + format_measurements(count_measurements(own))
    return [str(len(tally.list_printed(paper))), numbers, *claims]


def format_measurements(found: dict[str, int]) -> str:
    """`` (41 different measurements; 2 explained)``; nothing where there are none."""
    count, explained = found["measurements"], f"; {found['explained']} explained" if found["explained"] else ""
    return f" ({count} different measurement{'s' * (count != 1)}{explained})" if count else ""


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
            numbers = f"Of {printed} printed numbers compared: {compared}.".replace("–", "none")
            claims = f"Claims on the paper's data: {own}; on substitutes: {substitute}.".replace("–", "none judged")
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
