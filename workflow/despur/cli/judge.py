"""``despur judge``: tables, claims and the scorecard of a configuration from what is measured already."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.summary import show_known


def judge_measured(configfile: Path, output: Path, no_ledger: bool) -> Iterator[str]:
    """tables, claims and scorecard from the ledger and the runs that are here; nothing is trained"""
    from despur.reporting.without_training import give_verdicts

    yield from give_verdicts(configfile, output, not no_ledger)
    yield from show_known(output / "scorecard.csv")
