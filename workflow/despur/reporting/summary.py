"""The results in one table, for the README: of each paper how many printed numbers were compared and agree, and how
many claims hold. From the scorecards that are kept in results/reference.

    python -m despur.reporting.summary README.md
"""

import argparse
import re
from pathlib import Path

import pandas as pd

from despur.orchestration import experiments
from despur.reporting import tally, verdicts
from despur.storage.store import atomic

REFERENCE = experiments.PAPERS.parents[1] / "results/reference"
START, END = "<!-- results: written by make reference -->", "<!-- end of results -->"
NUMBER = ["place", "artifact", "paper_dataset", "method", "setting", "metric", "reported"]
CLAIM = ["claim", "paper_dataset"]
DECIDED = ("fails", "holds", "undecided")  # of a claim that several runs judge: the first that any of them gives
TITLES = (
    "| paper | printed numbers | compared | agree | claims on the paper's data | claims on substitutes |",
    "| --- | --- | --- | --- | --- | --- |",
)


def load_scorecards() -> pd.DataFrame:
    """The rows of all kept scorecards; none where none is kept."""
    files = sorted(REFERENCE.glob("*/scorecard.csv"))
    if not files:
        return pd.DataFrame(columns=["paper", "kind_of_row", "verdict", "substitute", *NUMBER, "claim"])
    tables = [pd.read_csv(file, dtype={"setting": str}, low_memory=False) for file in files]
    return pd.concat([table.astype(object) for table in tables], ignore_index=True)  # one may have an empty column


def count_numbers(rows: pd.DataFrame) -> dict[str, int]:
    """How many printed numbers were compared, and how many of them agree, of one paper's rows. One that several runs
    measure counts once; where it differs in any of them, it differs."""
    numbers = rows[rows["kind_of_row"] == "number"]
    named = numbers.assign(
        kind=numbers["verdict"].map(verdicts.classify_verdict), number=numbers.groupby(NUMBER, dropna=False).ngroup()
    )
    found = verdicts.counts(named)
    return {"compared": sum(found[kind] for kind in verdicts.COMPARED), "agree": found["agrees"]}


def count_claims(rows: pd.DataFrame, substitute: bool) -> dict[str, int]:
    """How many claims of one paper's rows hold, fail or are undecided; on the paper's own data or on substitutes. A
    claim on several data sets counts for each."""
    judged = rows[(rows["kind_of_row"] == "claim") & rows["verdict"].isin(DECIDED)]
    own = judged[judged["substitute"].astype(str).str.lower().eq("true") == substitute]
    each = own.groupby(CLAIM)["verdict"].agg(lambda found: min(found, key=DECIDED.index))
    return {verdict: int((each == verdict).sum()) for verdict in DECIDED}


def format_claims(found: dict[str, int]) -> str:
    """``12 hold, 1 fails, 3 undecided``; a dash where none was judged."""
    if not sum(found.values()):
        return "–"
    holds, fails = found["holds"], found["fails"]
    return f"{holds} hold{'s' * (holds == 1)}, {fails} fail{'s' * (fails == 1)}, {found['undecided']} undecided"


def format_summary() -> str:
    """The table, in Markdown."""
    scorecards, lines = load_scorecards(), [*TITLES]
    for paper in experiments.list_papers():
        rows = scorecards[scorecards["paper"] == paper]
        numbers, printed = count_numbers(rows), len(tally.list_printed(paper))
        claims = [format_claims(count_claims(rows, substitute)) for substitute in (False, True)]
        link = f"[{experiments.load_experiments(paper)['title']}](workflow/papers/{paper}/README.md)"
        lines.append(f"| {link} | {printed} | {numbers['compared']} | {numbers['agree']} | {' | '.join(claims)} |")
    return "\n".join(lines)


def replace_summary(text: str) -> str:
    """A text with the table of today between its two marks. Raises ValueError for a text without them."""
    if text.count(START) != 1 or text.count(END) != 1:
        raise ValueError(f"the text must have {START!r} and {END!r}, once each")
    return re.sub(
        f"{re.escape(START)}.*{re.escape(END)}",
        lambda _: f"{START}\n\n{format_summary()}\n\n{END}",
        text,
        flags=re.DOTALL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="a text with the two marks")
    file = parser.parse_args().file
    text = replace_summary(file.read_text())
    with atomic(file) as temporary:
        temporary.write_text(text)


if __name__ == "__main__":
    main()
