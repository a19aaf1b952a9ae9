"""despur at the command line: what there is, what a path means, what a run measured, how two differ, is raw data
right, what is unused, what a configuration costs; a start for something new; and the ledger of what was measured
anywhere.

    python -m despur list methods
    python -m despur explain results/runs/colored_digits/cnc+lambda=0.5/s0-2
    python -m despur show results/runs/colored_digits/cnc/s0-2
    python -m despur diff results/runs/colored_digits/erm/s0-2 results/runs/colored_digits/cnc/s0-2
    python -m despur check waterbirds
    python -m despur check --configfile config/published.yaml
    python -m despur unused
    python -m despur plan --configfile config/published.yaml
    python -m despur new method my_method
    python -m despur record results/runs/cmnist/cnc/s0-2
    python -m despur ledger check
"""

import argparse
import signal
import sys
from pathlib import Path
from typing import Any

from despur.cli import check, diff, explain, ledger, list, new, plan, show, unused
from despur.specs.settings import SettingError

PATH: dict[str, Any] = {"type": Path}
COMMANDS: dict[str, tuple[Any, dict[str, dict[str, Any]]]] = {  # what does the work, and its arguments
    "list": (list.list_kind, {"kind": {"choices": list.KINDS}}),
    "explain": (explain.explain, {"path": {"help": "a result, or its folder"}}),
    "show": (show.show_run, {"path": PATH | {"help": "a finished run's folder, or a file in it"}}),
    "diff": (diff.show_difference, {"first": PATH, "second": PATH}),
    "check": (
        check.check,
        {
            "dataset": {"nargs": "?", "help": "a name, with settings if you like"},
            "--configfile": PATH | {"help": "instead of a name: whether all that this configuration needs is there"},
        },
    ),
    "unused": (unused.list_unused, {}),
    "plan": (
        plan.plan_configuration,
        {
            "--configfile": PATH | {"default": Path("config.yaml")},
            "--device": {"choices": ("gpu", "cpu"), "default": "gpu", "help": "what trains: a GPU, or one CPU core"},
        },
    ),
    "record": (
        ledger.record_runs,
        {
            "paths": PATH | {"nargs": "*", "help": "folders of finished runs"},
            "--configfile": PATH | {"help": "instead of folders: all finished runs of this configuration"},
            "--commit": {"help": "the commit that made runs whose about.json names none; its code is compared"},
        },
    ),
    "ledger": (ledger.check_ledger, {"action": {"choices": ("check",)}}),
    "new": (new.create, {"kind": {"choices": new.KINDS}, "name": {"help": "lower-case letters, digits and _"}}),
}


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it, as any other command
    parser = argparse.ArgumentParser(
        prog="python -m despur", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (work, options) in COMMANDS.items():
        command = commands.add_parser(name, help=(work.__doc__ or "").splitlines()[0])
        for option, keywords in options.items():
            command.add_argument(option, **keywords)
    arguments = vars(parser.parse_args())
    work, _ = COMMANDS[arguments.pop("command")]
    try:
        for line in work(**arguments):
            print(line)
    except (SettingError, RuntimeError) as error:  # store.InputError is one, but imports pandas
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
