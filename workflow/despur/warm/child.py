"""What a fork of the server does: the command, as if a shell had started it."""

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


def become(request: dict[str, Any], files: list[int]) -> None:
    """Make this process one that a shell has started."""
    for target, file in enumerate(files):
        os.dup2(file, target)
        os.close(file)
    if sys.platform == "linux":  # if the server is killed, so is this
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])


def run(command: list[str]) -> None:
    """What ``python COMMAND`` does: ``-m MODULE ...`` or ``SCRIPT ...``."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "despur"]:
        del sys.modules[name]  # it may be edited while the server runs
    if command[0] == "-m":
        sys.argv = command[1:]
        sys.path[0] = str(Path.cwd())
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = command
        sys.path[0] = str(Path(command[0]).resolve().parent)
        runpy.run_path(command[0], run_name="__main__")


def finish(command: list[str]) -> None:
    """Run a command and end this process as Python would, but leave it to the system to free its memory, which takes
    Python a second."""
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
