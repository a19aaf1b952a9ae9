"""Snakemake's locks outlive a Snakemake that was killed with -9; a lock of the operating system does not."""

import fcntl
import platform
import sys
from pathlib import Path
from typing import IO


def clear_stale_locks(folder: Path = Path(".snakemake")) -> IO[str] | None:
    """Remove Snakemake's locks if no live Snakemake holds ``folder``; keep the returned file open as long as this one
    lives.

    Every Snakemake that calls this holds a shared lock on ``folder/alive``, and adds its host's name to it;
    whoever gets an exclusive lock is the only one on its host. Some file systems keep such locks to a host (Lustre's
    ``localflock``), so locks that may be another host's stay, and a message says whose. Names are forgotten when no
    locks are left. The jobs of a cluster must not call it. None where the file system has no such locks: who lives
    cannot be told, and all locks stay. Raises OSError where nothing can be written, as on a full disk."""
    try:
        folder.mkdir(exist_ok=True)
        alive = (folder / "alive").open("a+")
    except PermissionError:  # another user's: Snakemake itself says what it cannot do
        return None
    try:
        alive.seek(0)
        host, hosts = platform.node(), set(alive.read().split())
        others = sorted(hosts - {host})
        if _try_exclusive_lock(alive):
            locks = [*(folder / "locks").glob("*.lock")]
            if locks and others:
                print(
                    f"The locks in {folder.resolve()} may be those of a Snakemake on {', '.join(others)}, and "
                    "stay. If none runs there any "
                    "more: snakemake --unlock, then start it again",
                    file=sys.stderr,
                )
            else:
                for lock in locks:
                    lock.unlink()
                alive.truncate(0)
                hosts = set()
        if host not in hosts:
            print(host, file=alive, flush=True)
        fcntl.flock(alive, fcntl.LOCK_SH)
    except OSError:
        return None
    return alive


def _try_exclusive_lock(alive: IO[str]) -> bool:
    try:
        fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
