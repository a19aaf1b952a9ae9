"""The verdict of a run on one page: numbers, claims, the cross-paper matrix, cost, provenance.

    python -m despur.reporting.pages.scorecard --configfile config.yaml --output results/scorecard

scorecard.csv has a row for each printed number and each claim, scorecard.rst a sentence for each paper. The page shows
what is finished. All else is marked as not run here."""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from despur.evidence.numbers.counts import ORDER
from despur.orchestration import configuration
from despur.reporting.pages import summary
from despur.reporting.pages.scorecard_counts import JUDGED
from despur.reporting.pages.scorecard_page import Page
from despur.reporting.templates import render_template
from despur.specs.settings import SettingError
from despur.storage.store import InputError, atomic, write_csv


def render(page: Page) -> str:
    """The page as HTML that needs no other file."""
    return render_template(
        "scorecard.html.jinja",
        page=page,
        kinds=ORDER,
        judged=JUDGED,
        matrix=page.matrix(),
        cost=page.cost(),
        warnings=page.warnings(),
        made=page.provenance(),
    )


def write(config: Mapping[str, Any], prefix: Path) -> Page:
    """``prefix``.html, .csv, .rst (the report's first page) and .yaml (the configuration, which commands of the page
    name), each atomically; what they show."""
    page = Page(config, prefix)
    write_csv(prefix.with_suffix(".csv"), page.rows)
    texts = {"html": render(page), "rst": summary.format_first_page(page.rows), "yaml": page.format_configuration()}
    for kind, text in texts.items():
        with atomic(prefix.with_suffix(f".{kind}")) as temporary:
            temporary.write_text(text, encoding="utf-8")
    return page


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
