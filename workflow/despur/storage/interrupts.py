"""Ctrl-C while a command (``despur``, ``python -m despur.evaluate``) still imports: one line, and nothing else happens.

An exception in the midst of imports would leave a traceback, and some libraries catch it. Only in processes of commands
that call :func:`interrupt_work` when they have imported: others, such as a user's program, keep Python's handler."""

import os
import signal
import sys
from itertools import pairwise

MODULES = ("despur", *(f"despur.{name}" for name in ("data", "stage1", "groups", "stage2", "evaluate", "saliency")))


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


if is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, stop_at_once)
