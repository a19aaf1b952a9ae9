"""Snakemake's locks outlive a Snakemake that was killed with -9; a lock of the operating system does not."""

import fcntl
from pathlib import Path
from typing import IO


def clear_stale(folder: Path = Path(".snakemake")) -> IO[str] | None:
    """Remove Snakemake's locks if no live Snakemake holds ``folder``; keep the returned file open as long as this one lives.

    Every Snakemake that calls this holds ``folder/alive`` together with the others; who can hold it alone is the only one. On one machine:
    the jobs of a cluster must not call it. None where the file system has no such locks: who lives cannot be told, and all locks stay.
    """
    try:
        folder.mkdir(exist_ok=True)
        alive = (folder / "alive").open("w")
        if _alone(alive):
            for lock in (folder / "locks").glob("*.lock"):
                lock.unlink()
        fcntl.flock(alive, fcntl.LOCK_SH)
    except OSError:
        return None
    return alive


def _alone(alive: IO[str]) -> bool:
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
