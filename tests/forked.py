"""Python commands in a fork of a process that has imported Snakemake: for tests to which a fresh process makes no
difference. To import Snakemake takes longer than a dry-run of few jobs."""

import multiprocessing
import os
import signal
import sys
import tempfile
from multiprocessing.context import BaseContext
from pathlib import Path

from despur.warm.child import run_and_exit, take_over
from despur.warm.preparation import forget_package

LIBRARIES = [
    "snakemake.cli",
    "snakemake.report.html_reporter",
    "snakemake_executor_plugin_slurm_jobstep",
    "PIL.Image",
    "jsonschema",
    "pandas",
    "rich.live",
    "rich.progress",
    "scipy.stats",
    "smart_open",
    "stringprep",
    "yaml",
]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(LIBRARIES)
HERE = multiprocessing.get_context("fork")  # of the tests' own process: where that has imported torch


def run(
    command: list[str], folder: Path, environment: dict[str, str], seconds: float, context: BaseContext = CONTEXT
) -> tuple[int, str]:
    """Exit status of ``python COMMAND`` and what it prints; it is killed with all that it started after some time."""
    with tempfile.NamedTemporaryFile() as printed:
        process = context.Process(target=run_child, args=(command, str(folder), environment, printed.name))
        process.start()
        process.join(seconds)
        if process.exitcode is None:
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"{command} takes more than {seconds} s; it printed\n{Path(printed.name).read_text()}")
        return process.exitcode, Path(printed.name).read_text()


def run_child(command: list[str], folder: str, environment: dict[str, str], printed: str) -> None:
    """In the fork: a session of its own, and what Python does with its environment when it starts."""
    os.setsid()
    nothing, output = os.open(os.devnull, os.O_RDONLY), os.open(printed, os.O_WRONLY | os.O_APPEND)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__  # pytest has its own
    take_over({"folder": folder, "environment": environment}, [nothing, output, os.dup(output)])
    sys.path[:0] = ["", *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    forget_package()  # the command's own is another copy
    run_and_exit(command)
