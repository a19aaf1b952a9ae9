"""The commands of despur, a file of this folder each: the function that does the work, and beside it its ARGUMENTS.
An argument that ``completes`` a kind of components can be completed by the shell."""

import argparse
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from despur.specs.hyperparameters import RULES

Arguments = dict[str, dict[str, Any]]  # of argparse, by name
COMMANDS = {  # the function of the file that is called as the command
    "run": "run_method",
    "search": "search_settings",
    "list": "list_kind",
    "explain": "explain",
    "show": "show_runs",
    "explore": "explore",
    "diff": "show_difference",
    "check": "check",
    "fetch": "fetch",
    "unused": "list_unused",
    "summary": "summarize_run",
    "plan": "plan",
    "record": "record_runs",
    "judge": "judge_measured",
    "ledger": "check_or_report",
    "new": "create",
}
TABLELESS = ("explore", "new")  # commands that print no table


def load_command(name: str) -> tuple[Callable[..., Iterable[str]], Arguments]:
    """What does the work of a command, and its arguments. The files of other commands are not imported."""
    module = import_module(f"despur.cli.{name}")
    return getattr(module, COMMANDS[name]), getattr(module, "ARGUMENTS", {})


def read_path(text: str) -> Path:
    """A path that somebody typed. Raises ArgumentTypeError for an empty one, which Python takes for this folder."""
    if not text:
        raise argparse.ArgumentTypeError("'' names no file or folder")
    return Path(text)


PATH: dict[str, Any] = {"type": read_path}
SELECTION: dict[str, Any] = {
    "default": "best",
    "metavar": "RULE",
    "help": "which steps' models: best; of runs with the setting selections=rules also " + ", ".join(RULES),
}
