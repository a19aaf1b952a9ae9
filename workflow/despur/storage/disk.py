"""What a disk refuses, and what killed processes have left on it."""

import errno
import fcntl
import glob
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from despur.storage.reading import InputError

# What the system says of a name that cannot be a file's, or of a place where no file can be.
NO_PLACE = (
    *(errno.EEXIST, errno.EINVAL, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG),
    *(errno.ENOENT, errno.ENOTDIR, errno.EPERM),
)


def refuse_special(path: Path) -> None:
    """Raises InputError for a path that a file would replace although it is no regular file: a folder, a device, a
    pipe."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device, a pipe or a socket"
        raise InputError(f"{path} is {kind}, and only a file is written over: choose another name")


def create_temporary(path: Path) -> tuple[int, str]:
    """A new file beside ``path``: its descriptor and its name. Raises InputError where no file can be of this name."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        refuse_special(path)  # not before: of new/../device, nothing exists until new does
        remove_leftovers(path)
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        raise InputError(f"{path} cannot be written: {error.strerror}. Choose another name or place") from error


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


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a written file its name, once it is on the disk: after the death of a machine, the name may else stand for
    a part of it."""
    temporary.chmod(0o644)
    with temporary.open("rb") as file:
        os.fsync(file.fileno())
    temporary.replace(path)
