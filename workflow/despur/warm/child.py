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


def forget_package() -> None:
    """Let this process import the package again, which may be edited while the server runs. What has parsed its code
    stays, unless it is edited itself."""
    syntax = sys.modules.get("despur.storage.syntax")
    if syntax and Path(str(syntax.__file__)).read_text() != syntax.TEXT:
        syntax = None
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "despur" and module is not syntax:
            del sys.modules[name]


def run(command: list[str]) -> None:
    """Do what ``python COMMAND`` does; ``command`` is ``-m MODULE ...`` or ``SCRIPT ...``."""
    forget_package()
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
