"""What a disk refuses, and what killed processes have left on it."""

import errno
import fcntl
import glob
import os
import shutil
from contextlib import suppress
from pathlib import Path


def remove_leftovers(path: Path) -> None:
    """Remove the temporary files of processes that were killed while they wrote ``path``: nobody holds their lock."""
    for leftover in path.parent.glob(f".{glob.escape(path.name)}.????????{glob.escape(path.suffix)}"):
        with suppress(OSError), leftover.open() as file:
            if not is_held(file.fileno()):
                leftover.unlink()


def is_held(file: int) -> bool:
    """Whether another process holds the lock of an open file; if not, this one does from now on. True where the file
    system has no locks."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def explain_refusal(error: BaseException | None, folder: Path) -> str:
    """Why a folder cannot be written, if this caused the error, or an error before it. Also looks at the free disk
    space, because some libraries do not state it."""
    codes = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES)
    reasons = {code: os.strerror(code) for code in codes}
    while error:
        for code, why in reasons.items():
            if getattr(error, "errno", None) == code or why in str(error):
                return why
        error = error.__cause__ or error.__context__
    full = folder.exists() and shutil.disk_usage(folder).free < 2**16
    return reasons[errno.ENOSPC] if full else ""
