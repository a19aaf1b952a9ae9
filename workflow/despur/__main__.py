"""despur at the command line: what there is, what a path means, what a run measured, how two differ, is raw data
right, what is unused.

python -m despur list methods
python -m despur explain results/runs/colored_digits/cnc+lambda=0.5/s0-2
python -m despur show results/runs/colored_digits/cnc/s0-2
python -m despur diff results/runs/colored_digits/erm/s0-2 results/runs/colored_digits/cnc/s0-2
python -m despur check waterbirds
python -m despur check --configfile config/published.yaml
python -m despur unused
python -m despur plan --configfile config/published.yaml
"""

import argparse
import signal
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from despur.cli import explain, show
from despur.cli.check import check
from despur.orchestration.plan import plan
from despur.specs.settings import SettingError


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `... | head` ends it, as any other command
    parser = argparse.ArgumentParser(
        prog="python -m despur", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)

    def action(work: Callable[..., Iterable[str]], *arguments: tuple[str, dict[str, object]]) -> None:
        own = actions.add_parser(work.__name__.rstrip("_"), help=(work.__doc__ or "").splitlines()[0])
        own.set_defaults(work=work)
        for name, keywords in arguments:
            own.add_argument(name, **keywords)  # type: ignore[arg-type]

    action(explain.list_, ("what", {"choices": explain.LISTS}))
    action(explain.explain, ("path", {"help": "a result, or its folder"}))
    action(show.show, ("path", {"type": Path, "help": "a finished run's folder, or a file in it"}))
    action(show.diff, ("first", {"type": Path}), ("second", {"type": Path}))
    action(
        check,
        ("dataset", {"nargs": "?", "help": "a name, with settings if you like"}),
        (
            "--configfile",
            {"type": Path, "help": "in the place of a name: whether all that this configuration needs is there"},
        ),
    )
    action(explain.unused)
    action(
        plan,
        ("--configfile", {"type": Path, "default": Path("config.yaml")}),
        (
            "--device",
            {"choices": ("gpu", "cpu"), "default": "gpu", "help": "what trains: a GPU (default), or one CPU core"},
        ),
    )
    asked = vars(parser.parse_args())
    work = asked.pop("work")
    del asked["action"]
    try:
        for line in work(**asked):
            print(line)
    except (SettingError, RuntimeError) as error:  # store.InputError is one, but imports pandas
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
