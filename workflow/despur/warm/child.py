"""A fork of the server: it runs the command as if a shell had started it."""

import atexit
import ctypes
import os
import runpy
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
SYNTAX = "despur.specs.syntax"


def take_over(request: dict[str, Any], files: list[int]) -> None:
    """Give this process the standard files, the folder and the environment of the client."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    if sys.platform == "linux":  # if the server is killed, this process is, too
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])


def forget_edited_syntax() -> None:
    """Let this process import again what has parsed the package's code, if that is edited itself."""
    syntax = sys.modules.get(SYNTAX)
    if syntax and Path(str(syntax.__file__)).read_text() != syntax.TEXT:
        del sys.modules[SYNTAX]


def run(command: list[str]) -> None:
    """Do what ``python COMMAND`` does; ``command`` is ``-m MODULE ...`` or ``SCRIPT ...``."""
    forget_edited_syntax()
    if command[0] == "-m":
        sys.argv = command[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        sys.path[0] = str(Path(command[0]).resolve().parent)
        runpy.run_path(command[0], run_name="__main__")


def run_and_exit(command: list[str]) -> None:
    """Run a command and end this process as Python would, but without freeing its memory, which takes a second."""
    status: Any = 0
    try:
        run(command)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
        status = 1
    if isinstance(status, str):
        print(status, file=sys.stderr)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else int(status is not None))
