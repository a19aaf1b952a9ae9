"""Jobs that start at once: importing torch, pandas and scikit-learn takes longer than many a small job does.

python -m despur.warm -m despur.evaluate results/runs/colored_digits/cnc/s0-2

does what the same line without ``-m despur.warm`` does. Where Snakemake runs jobs on its own machine (it sets
DESPUR_WARM to its process id), the first such command starts a server, which imports the libraries once and is forked
for each command; else it runs as any command. A child imports despur's own code anew, so an edit counts at once. The
server ends with Snakemake; a command that is killed takes its child along."""

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path


def folder(owner: int) -> Path:
    """Where the server of the Snakemake with this process id is found; no other user can reach it."""
    result = Path(tempfile.gettempdir()) / f"despur-{os.getuid()}-{owner}"
    result.mkdir(mode=0o700, exist_ok=True)
    if result.stat().st_uid != os.getuid():
        sys.exit(f"error: {result} belongs to another user: remove it, or set TMPDIR to a folder of your own")
    return result


def alive(process: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(process, 0)
        return True
    return False
