"""The commands of despur: what does the work of each, and its arguments. An argument that ``completes`` a kind of
components can be completed by the shell."""

import argparse
from pathlib import Path
from typing import Any

from despur.cli import (
    check,
    diff,
    explain,
    explore,
    fetch,
    ledger,
    list,
    new,
    plan,
    run,
    search,
    show,
    summary,
    unused,
)
from despur.orchestration.experiments import PUBLISHED
from despur.specs.hyperparameters import RULES


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
    "search": (
        search.search_settings,
        {
            "method": {
                "nargs": "?",
                "help": "with settings to keep, if you like: erm+encoder=convnet",
                "completes": "methods",
            },
            "data": {"nargs": "?", "help": "a data set, such as scene_digits+draw=1", "completes": "datasets"},
            "--configfile": PATH
            | {"help": "instead: each method of its matrix, with matrix.trials points; writes FILE_tuned.yaml"},
            "--selection": SELECTION,
            "--trials": {
                "type": int,
                "default": search.TRIALS,
                "help": "points that are tried; the first has the defaults",
            },
            "--seeds": {
                "type": int,
                "default": search.SEEDS,
                "help": "how often the best point is trained; default: 3",
            },
            "--dry-run": {"action": "store_true", "help": "only list the points and the jobs"},
        },
    ),
    "list": (list.list_kind, {"kind": {"choices": list.LISTED}}),
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
            "--selection": SELECTION,
            "--oracle": {
                "action": "store_true",
                "help": "also the kept step that is best on the split that tables show: for analysis, never to report",
            },
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
            "--check": {"action": "store_true", "help": "only ask each address, or those of NAME, for its header"},
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
            "paths": PATH | {"nargs": "*", "help": "runs, tables or figures, instead of a configuration"},
            "--configfile": PATH | {"default": Path("config.yaml")},
            "--device": {"choices": ("gpu", "cpu"), "help": "what trains: a GPU, or one CPU core; default: as here"},
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
        summary.judge_measured,
        {
            "--configfile": PATH | {"default": PUBLISHED},
            "--output": PATH | {"default": Path("results/verdicts"), "help": "the folder to write to"},
            "--no-ledger": {"action": "store_true", "help": "only runs of this machine"},
        },
    ),
    "ledger": (ledger.check_or_report, {"action": {"choices": ("check", "report")}}),
    "new": (
        new.create,
        {
            "kind": {"choices": new.CREATED},
            "name": {"help": "lower-case letters, digits and _"},
            "--folder": PATH | {"help": "an extension to write into, such as my_project (DESPUR_EXTENSIONS)"},
        },
    ),
}
TABLELESS = ("explore", "new")  # commands that print no table
