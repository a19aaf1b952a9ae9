"""A server that starts jobs fast: to import torch, pandas and scikit-learn takes longer than many small jobs.

    python -m despur.warm -m despur.evaluate results/runs/colored_digits/cnc/s0-2

does the same as this command without ``-m despur.warm``. Where Snakemake runs jobs on its own machine, it sets
DESPUR_WARM to its process id. Then the first such command starts a server. The server imports the libraries once and is
forked for each command. Without DESPUR_WARM, the command runs as usual. Each child imports despur's own code again, so
that edits have an effect. The server ends with Snakemake. If a command is killed, so is its child.

Each job saves the seconds that ``import stage 2`` has in results/reference/benchmarks.csv. No library keeps a process
warm for commands that are to see edited code and to be killed like any other."""

import os
import sys
import tempfile
from pathlib import Path


def locate_folder(owner: int) -> Path:
    """Where the folder of the server of the Snakemake with this process id is."""
    return Path(tempfile.gettempdir()) / f"despur-{os.getuid()}-{owner}"


def folder(owner: int) -> Path:
    """This folder, made where it is not there; other users have no access to it."""
    path = locate_folder(owner)
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        sys.exit(f"error: {path} belongs to another user: remove it, or set TMPDIR to a folder of your own")
    return path


def is_alive(process: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):  # OverflowError: no number of a process
        return False
    except PermissionError:  # another user's
        return True
    return True
