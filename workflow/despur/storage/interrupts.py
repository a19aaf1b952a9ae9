"""What a command (``despur``, ``python -m despur.evaluate``) does before it imports libraries. Other processes, such as
a user's program, stay as they are.

Ctrl-C while it imports: one line, and nothing else happens. An exception in the midst of imports would leave a
traceback, and some libraries catch it. Commands call :func:`interrupt_work` when they have imported.

Where the machine does not give enough for an import (memory, open files), one line says what is missing, not a
traceback.

Linear algebra has one thread, as in the jobs of Snakemake, unless the environment says otherwise: last digits depend on
the number of threads, and so does the time where several processes share the cores."""

import errno
import os
import re
import signal
import sys
from itertools import pairwise
from types import TracebackType

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


# What torch, the system's loader and other libraries say where the machine has no more memory.
NO_MEMORY = (
    "[Cc]an(no|')t allocate memory|bad_alloc|out of memory|failed to map segment|failed to allocate|"
    "can't start new thread|Failed to launch worker thread|could not create a primitive"
)


def explain_shortage(error: BaseException) -> str:
    """What the machine did not give, and what to do: memory, files open at once, or a place for temporary files.
    Nothing for other errors. What an error was raised from counts, too."""
    again = "it goes on where it was"
    short = isinstance(error, MemoryError) or getattr(error, "errno", None) == errno.ENOMEM
    lines = [line for line in str(error).splitlines() if short or re.search(NO_MEMORY, line)]
    if lines or short:
        return f"not enough memory ({[*lines, 'of this process'][0]}). Run it again with more: {again}"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{error.strerror}. Run it again where more may be open (ulimit -n): {again}"
    if isinstance(error, FileNotFoundError) and "temporary directory" in str(error):  # of tempfile
        return f"{error.strerror}. Make room there, or set TMPDIR to another folder, and run it again: {again}"
    earlier = error.__cause__ or error.__context__
    return explain_shortage(earlier) if earlier else ""


def say_why(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Of what ends this process: one line where it was interrupted or the machine did not give enough, else a
    traceback."""
    if why := explain_shortage(error):
        os.write(2, f"error: {why}\n".encode())
    elif issubclass(kind, KeyboardInterrupt):
        os.write(2, b"stopped\n")
    else:
        sys.__excepthook__(kind, error, trace)


def find_program() -> str:
    """The program of despur that this process was started as: a module, such as ``despur.evaluate``; nothing where it
    is another program."""
    if sys.argv[0] == "-m":  # Python is about to look for the module to run
        named = [module for option, module in pairwise(sys.orig_argv) if option.endswith("m")]
        return next((module for module in named if module.split(".")[0] == "despur"), "")
    return "despur" if sys.argv[0].rpartition("/")[2] == "despur" else ""


if program := find_program():
    sys.excepthook = say_why
if program in MODULES:
    for name in THREADS:
        os.environ.setdefault(name, "1")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, stop_at_once)
