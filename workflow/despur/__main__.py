"""despur at the command line. Each command has a help of its own: despur run --help.

    despur run cnc --data colored_digits --set temperature=0.05 --seeds 3
    despur search jtt colored_digits --trials 16 --seeds 3
    despur list methods
    despur explain results/runs/colored_digits/cnc+lambda=0.5/s0-2
    despur show results/runs/colored_digits/cnc/s0-2
    despur explore
    despur diff results/runs/colored_digits/erm/s0-2 results/runs/colored_digits/cnc/s0-2
    despur check waterbirds
    despur fetch waterbirds
    despur plan --configfile config/published.yaml
    despur new method my_method
    despur record results/runs/cmnist/cnc/s0-2

python -m despur is the same command.
"""

import argparse
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from despur.cli.commands import COMMANDS, TABLELESS, load_command
from despur.cli.rows import format_json
from despur.specs.declarations import list_components
from despur.specs.extras import name_extra
from despur.specs.settings import SettingError
from despur.storage.interrupts import interrupt_work

RUNNING = ("run", "search")  # commands that call Snakemake
DRY_RUN = {"-n", "--dry-run", "--dryrun"}  # as Snakemake spells it


def build_parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    """The parser of these commands. Names of methods and data sets can be completed by the shell."""
    parser = argparse.ArgumentParser(
        prog="despur", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in names:
        work, options = load_command(name)
        summary = " ".join((work.__doc__ or "").split()).partition(". Raises")[0]
        more = f"Options of Snakemake stand last, after --: despur {name} ... -- --cores 2" if name in RUNNING else None
        command = commands.add_parser(name, help=summary, description=summary, epilog=more)
        for option, keywords in options.items():
            kind = keywords.get("completes")
            argument = command.add_argument(
                option, **{key: keyword for key, keyword in keywords.items() if key != "completes"}
            )
            if kind:
                argument.completer = partial(complete_name, kind)  # type: ignore[attr-defined]
        if name not in TABLELESS:
            command.add_argument("--json", action="store_true", help="print tables as JSON")
    return parser


def complete_name(kind: str, **_: Any) -> Sequence[str]:
    """What the shell may offer for a name."""
    return list_components(kind)


def parse_arguments(parser: argparse.ArgumentParser, words: Sequence[str]) -> dict[str, Any]:
    """The command and its arguments. What stands after ``--`` of a command that runs are options of Snakemake; a dry
    run of Snakemake is one of the command, which then expects no results."""
    runs = words[:1] in [[name] for name in RUNNING]
    if not runs or "--" not in words:
        return vars(parser.parse_args(words)) | ({"options": []} if runs else {})
    end = words.index("--")
    arguments, options = vars(parser.parse_args(words[:end])), words[end + 1 :]
    dry_run = arguments["dry_run"] or not DRY_RUN.isdisjoint(options)
    return arguments | {"dry_run": dry_run, "options": [option for option in options if option not in DRY_RUN]}


def print_lines(lines: Iterable[str], as_json: bool) -> None:
    """Print each line as soon as it is known; or all tables as JSON at the end, also where that is an error."""
    rows = []
    try:
        for line in lines:
            if as_json:
                rows.append(line)
            else:
                print(line)
    finally:
        if as_json:
            print(format_json(rows))


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it, as any other command
    named = [word for word in sys.argv[1:2] if word in COMMANDS]
    parser = build_parser(named or COMMANDS)
    if "_ARGCOMPLETE" in os.environ:  # the shell asks what may come next
        import argcomplete

        argcomplete.autocomplete(parser)
    arguments = parse_arguments(parser, sys.argv[1:])
    work, _ = load_command(arguments.pop("command"))
    as_json = arguments.pop("json", False)
    try:
        interrupt_work()
        with name_extra():
            print_lines(work(**arguments), as_json)
    except (SettingError, RuntimeError) as error:  # store.InputError is one, but imports pandas
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit(f"error: {error.filename or 'a file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
