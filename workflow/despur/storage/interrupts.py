"""What a command (``despur``, ``python -m despur.evaluate``) does before it imports libraries. Other processes, such as
a user's program, stay as they are.

Ctrl-C while it imports: one line, and nothing else happens. An exception in the midst of imports would leave a
traceback, and some libraries catch it. Commands call :func:`interrupt_work` when they have imported.

Linear algebra has one thread, as in the jobs of Snakemake, unless the environment says otherwise: last digits depend on
the number of threads, and so does the time where several processes share the cores."""

import os
import signal
import sys
from itertools import pairwise

from despur.specs.stages import TABLE

MODULES = ("despur", *(f"despur.{stage.program}" for stage in TABLE))

THREADS = (  # what Snakemake sets for its jobs
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"),
    "VECLIB_MAXIMUM_THREADS",
)


def stop_at_once(*_: object) -> None:
    os.write(2, b"stopped\n")
    os._exit(130)


def interrupt_work() -> None:
    """From now on Ctrl-C raises KeyboardInterrupt, unless the shell has said that it is ignored."""
    if signal.getsignal(signal.SIGINT) is stop_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def is_command() -> bool:
    """Whether this process was started as one of the commands above."""
    if sys.argv[0] == "-m":  # Python is about to look for the module to run
        return any(option.endswith("m") and module in MODULES for option, module in pairwise(sys.orig_argv))
    return sys.argv[0].rpartition("/")[2] == "despur"


if is_command():
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop_at_once)
