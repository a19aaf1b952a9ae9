"""despur at the command line. Each command has a help of its own: despur run --help.

    despur run cnc --data colored_digits --set temperature=0.05 --seeds 3
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
from pathlib import Path
from typing import Any

from despur.cli import check, diff, explain, explore, fetch, judge, ledger, list, new, plan, run, show, summary, unused
from despur.cli.rows import format_json
from despur.specs.declarations import list_components
from despur.specs.extras import name_extra
from despur.specs.settings import SettingError
from despur.storage.interrupts import interrupt_work


def read_path(text: str) -> Path:
    """A path that somebody typed. Raises ArgumentTypeError for an empty one, which Python takes for this folder."""
    if not text:
        raise argparse.ArgumentTypeError("'' names no file or folder")
    return Path(text)


PATH: dict[str, Any] = {"type": read_path}
COMMANDS: dict[str, tuple[Any, dict[str, dict[str, Any]]]] = {  # what does the work, and its arguments
    "run": (
        run.run_method,
        {
            "method": {"help": "despur list methods names them", "completes": "methods"},
            "--data": {"required": True, "help": "a data set, such as cmnist+p_corr=0.9", "completes": "datasets"},
            "--set": {
                "action": "append",
                "default": [],
                "dest": "settings",
                "metavar": "KEY=VALUE",
                "help": "a setting of the method, or several values of it: lambda=0.2~0.4",
            },
            "--seeds": {"default": "1", "help": "how many (3), or which (0-2,5); default: 1"},
            "--dry-run": {"action": "store_true", "help": "only list the jobs"},
        },
    ),
    "list": (list.list_kind, {"kind": {"choices": list.KINDS}}),
    "explain": (
        explain.explain,
        {
            "path": {"help": "a result, or its folder"},
            "--all": {"action": "store_true", "dest": "defaults", "help": "also the settings that have their defaults"},
        },
    ),
    "show": (
        show.show_runs,
        {
            "paths": PATH | {"nargs": "+", "help": "folders of finished runs, or files in them; all seeds together"},
            "--groups": {"action": "store_true", "help": "also each group; of a sweep, every metric of each point"},
        },
    ),
    "explore": (
        explore.explore,
        {
            "paths": {"nargs": "*", "help": "folders of finished runs, or patterns; default: all below results/runs"},
            "--output": PATH | {"default": Path("results/explorer.html"), "help": "default: results/explorer.html"},
        },
    ),
    "diff": (diff.show_difference, {"first": PATH, "second": PATH}),
    "check": (
        check.check,
        {
            "dataset": {"nargs": "?", "help": "a name, with settings if you like", "completes": "datasets"},
            "--configfile": PATH | {"help": "instead of a name: whether all that this configuration needs is there"},
        },
    ),
    "fetch": (
        fetch.fetch,
        {
            "name": {"nargs": "?", "help": "a data set or an encoder", "completes": "datasets"},
            "--configfile": PATH | {"help": "instead of a name: all raw files that this configuration lacks"},
            "--yes": {"action": "store_true", "help": "download without a question"},
        },
    ),
    "unused": (unused.list_unused, {}),
    "summary": (
        summary.summarize_run,
        {"--configfile": PATH | {"default": Path("config.yaml"), "help": "of the run; default: config.yaml"}},
    ),
    "plan": (
        plan.plan,
        {
            "paths": PATH | {"nargs": "*", "help": "result paths, instead of a configuration"},
            "--configfile": PATH | {"default": Path("config.yaml")},
            "--device": {"choices": ("gpu", "cpu"), "default": "gpu", "help": "what trains: a GPU, or one CPU core"},
            "--open": {
                "action": "store_true",
                "dest": "only_open",
                "help": "the runs that are neither here nor in the ledger, and how many numbers they would settle",
            },
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
    "judge": (
        judge.judge_measured,
        {
            "--configfile": PATH | {"default": Path("config/published.yaml")},
            "--output": PATH | {"default": Path("results/verdicts"), "help": "the folder to write to"},
            "--no-ledger": {"action": "store_true", "help": "only runs of this machine"},
        },
    ),
    "ledger": (ledger.check_or_report, {"action": {"choices": ("check", "report")}}),
    "new": (
        new.create,
        {
            "kind": {"choices": new.KINDS},
            "name": {"help": "lower-case letters, digits and _"},
            "--folder": PATH | {"help": "an extension to write into, such as my_project (DESPUR_EXTENSIONS)"},
        },
    ),
}
TABLELESS = ("explore", "new")  # commands that print no table


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands. Names of methods and data sets can be completed by the shell."""
    parser = argparse.ArgumentParser(
        prog="despur", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, (work, options) in COMMANDS.items():
        summary = " ".join((work.__doc__ or "").split()).partition(". Raises")[0]
        more = "Options of Snakemake stand last, after --: despur run ... -- --cores 2" if name == "run" else None
        command = commands.add_parser(name, help=summary, description=summary, epilog=more)
        for option, keywords in options.items():
            kind = keywords.get("completes")
            argument = command.add_argument(
                option, **{key: each for key, each in keywords.items() if key != "completes"}
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
    """The command and its arguments. What stands after ``--`` of ``run`` are options of Snakemake."""
    if words[:1] != ["run"] or "--" not in words:
        return vars(parser.parse_args(words)) | ({"options": []} if words[:1] == ["run"] else {})
    end = words.index("--")
    return vars(parser.parse_args(words[:end])) | {"options": words[end + 1 :]}


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
    parser = build_parser()
    if "_ARGCOMPLETE" in os.environ:  # the shell asks what may come next
        import argcomplete

        argcomplete.autocomplete(parser)
    arguments = parse_arguments(parser, sys.argv[1:])
    work, _ = COMMANDS[arguments.pop("command")]
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
