"""All that is known on one page: of each paper its numbers and claims, behavior on substitute data, the papers' slips,
the cross-paper matrix, cost, provenance.

    python -m despur.reporting.pages.scorecard --configfile config.yaml --output results/scorecard

scorecard.csv has a row for each printed number and each claim of this configuration, scorecard.rst a sentence for each
paper. What is not run is marked so."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from despur.evidence import tally
from despur.evidence.all_evidence import Evidence, load_evidence
from despur.evidence.verdicts import ClaimVerdict
from despur.orchestration import configuration, paper_folders
from despur.reporting.digits import check_digits
from despur.reporting.pages import cost, summary
from despur.reporting.pages.open_choices import list_choices
from despur.reporting.pages.scorecard_page import Page
from despur.reporting.templates import render_template
from despur.specs.settings import SettingError
from despur.storage.store import InputError, write_csv
from despur.storage.texts import write_text


def render(page: Page, digits: str, again: str) -> str:
    """The page as HTML that needs no other file. ``digits``: whether the runs are those of the reference."""
    return render_template(
        "scorecard.html.jinja",
        page=page,
        digits=digits,
        columns=list(page.papers[0]["summary"].cells),
        counts=list(summary.COUNTS),
        legend=summary.LEGEND,
        false_verdicts=describe_false_verdicts(page.evidence),
        judged=[verdict.value for verdict in ClaimVerdict],
        choices=list_choices(),
        matrix=page.matrix(),
        cost=cost.measure_run(page.config),
        warnings=page.warnings(),
        made=page.provenance(),
        again=again or page.command(f"{page.config['outputs']}/scorecard.html"),
    )


def describe_false_verdicts(evidence: Evidence) -> str:
    """How many verdicts on claims may be false; nothing where none was judged."""
    said = [f"{count:.2g} on {tier}" for tier, count in evidence.false_verdicts.items() if count]
    return f"Verdicts on claims that are false, expected at most: {', '.join(said)}." if said else ""


def gather(config: Mapping[str, Any], target: Path) -> Page:
    """The page of a configuration, whose rows are written to ``target``.csv: with the ledger and reference runs, they
    are what is known."""
    claims = {paper: tally.gather_claims(config, paper) for paper in paper_folders.list_papers()}
    tables = {paper: (tally.gather_numbers(config, paper), paper_claims) for paper, paper_claims in claims.items()}
    rows = target.with_suffix(".csv")
    write_csv(rows, tally.join_tables(tables))
    return Page(config, target, load_evidence(rows), claims)


def write(config: Mapping[str, Any], prefix: Path, again: str = "") -> None:
    """``prefix``.html, .csv, .rst (for the report's first page) and .yaml (the configuration, which the page's commands
    name), each atomically. ``again``: the command that makes the page, where that is not Snakemake's."""
    page, digits = gather(config, prefix), check_digits(config).describe()
    home = "\n\n".join([*(format_sentence(paper["summary"]) for paper in page.papers), digits])
    texts = {"html": render(page, digits, again), "rst": home + "\n", "yaml": page.format_configuration()}
    for kind, text in texts.items():
        write_text(prefix.with_suffix(f".{kind}"), text)


def format_sentence(paper: summary.PaperSummary) -> str:
    """What is known of a paper, in reStructuredText."""
    counts = ", ".join(
        f"{title} {paper.cells[title]}" for title in summary.COUNTS if paper.cells[title] not in ("0", "–")
    )
    titles = summary.ORDERS_SEEN.values()
    orders = " ".join(f"{title.capitalize()}: {cell}." for title, cell in paper.cells.items() if title in titles)
    said = f"{paper.claim} Distinct printed numbers: {counts}. {orders}".replace("*", "\\*")
    return f"{paper.title}\n   {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--configfile", type=Path, help="the configuration of the run")
    source.add_argument("--config", help="the same, as JSON")
    parser.add_argument("--output", type=Path, required=True, help="where to write it, without suffix")
    arguments = parser.parse_args()
    try:
        config = (
            configuration.load_configuration(arguments.configfile)
            if arguments.configfile
            else json.loads(arguments.config)
        )
    except SettingError as error:
        parser.error(str(error))
    try:
        write(config, arguments.output)
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
