"""``despur summary``: the last screen of ``make``: what is known of each paper, whether runs have the digits of the
reference, and the page to open."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from despur.cli.commands import PATH, Arguments
from despur.cli.rows import Row
from despur.orchestration import configuration
from despur.specs.settings import SettingError

ARGUMENTS: Arguments = {
    "--configfile": PATH | {"default": Path("config.yaml"), "help": "of the run; default: config.yaml"}
}


def summarize_run(configfile: Path) -> Iterator[str]:
    """what is known of each paper, whether the runs have the digits of the reference, and the page to open"""
    config = configuration.load_configuration(configfile)
    scorecard = Path(config["outputs"]) / "scorecard.csv"
    if not scorecard.exists():
        raise SettingError(f"{scorecard} is not there: make it with snakemake --configfile {configfile}")
    from despur.reporting.digits import check_digits

    yield from show_known(scorecard)
    digits = check_digits(config)
    yield f"\n{digits.describe()}"
    yield f"\nOpen {scorecard.with_suffix('.html')}"
    digits.refuse_differences()


def show_known(scorecard: Path) -> Iterator[str]:
    """The table of the first screen, of a scorecard of this machine with all that is kept."""
    from despur.evidence.all_evidence import load_evidence
    from despur.reporting.pages.summary import describe_all, format_lines, summarize_papers

    evidence = load_evidence(scorecard)
    papers = summarize_papers(evidence)
    first, second, *lines = format_lines(papers)
    yield from (first, second)
    for line, summary in zip(lines, papers, strict=False):
        yield Row(line, "papers", paper=summary.paper, claim=summary.claim, **summary.cells)
    yield from lines[len(papers) :]
    yield "\n" + textwrap.fill(describe_all(evidence), 120)
