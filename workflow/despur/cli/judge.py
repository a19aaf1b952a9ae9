"""``despur judge``: verdicts and tables of what is measured already, and the table of ``despur summary`` of them."""

from collections.abc import Iterator
from pathlib import Path

from despur.cli.commands import PATH, Arguments
from despur.cli.summary import show_known
from despur.orchestration.experiments import PUBLISHED

ARGUMENTS: Arguments = {
    "--configfile": PATH | {"default": PUBLISHED},
    "--output": PATH | {"default": Path("results/verdicts"), "help": "the folder to write to"},
    "--no-ledger": {"action": "store_true", "help": "only runs of this machine"},
}


def judge_measured(configfile: Path, output: Path, no_ledger: bool) -> Iterator[str]:
    """tables, claims and scorecard from the ledger and the runs that are here; nothing is trained"""
    from despur.reporting.without_training import give_verdicts

    yield from give_verdicts(configfile, output, not no_ledger)
    yield from show_known(output / "scorecard.csv")
