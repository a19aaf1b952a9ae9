"""Results that are read: where one is not there or broken, one message says how it is made. pandas is loaded only for a
table."""

import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from despur.storage.checksums import refuse_changed

if TYPE_CHECKING:
    import pandas as pd

# What json, numpy, pandas and pyarrow raise for a file that is cut off, empty or lacks a part.
BROKEN = (
    *(ValueError, LookupError, EOFError, OSError, SyntaxError, NotImplementedError),
    *(tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)


class InputError(RuntimeError):
    """A raw file or an input that cannot be used; the message names the file and the remedy."""


def name_remedy(path: Path) -> str:
    """How a broken result is made again: as a link into a shared cache, it is its target that is deleted."""
    return f"delete {path.resolve()}, then: snakemake {path}"


def require_file(path: Path) -> Path:
    """A result's file. Raises InputError, saying how it is made, where it is not there."""
    if not path.exists():
        here = Path.cwd()
        target = path.relative_to(here) if path.is_relative_to(here) else path  # Snakemake knows relative paths
        raise InputError(f"{path} is not there: make it with snakemake {target}")
    return path


@contextmanager
def reading(path: Path) -> Iterator[Path]:
    """A result's file, while it is read. Raises InputError where it is not there or broken."""
    try:
        if require_file(path).suffix == ".csv" and not ends_with_line(path):
            raise ValueError("its last line is cut off")
        refuse_changed(path)
        yield path
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno:  # the system refuses: the file may be whole
            raise
        said = " ".join(str(error).split())
        raise InputError(f"{path} is broken ({said}): {name_remedy(path)}") from error


def ends_with_line(path: Path) -> bool:
    """Whether a text file ends with the end of a line. Where it does not, rows are missing."""
    with path.open("rb") as file:
        file.seek(-min(1, path.stat().st_size), os.SEEK_END)
        return file.read() == b"\n"


def read_parquet(file: Path, columns: list[str] | None = None) -> "pd.DataFrame":
    """A table, or some of its columns, read by this thread alone: for a thread that the machine does not give, pyarrow
    waits without end."""
    import pandas as pd

    return pd.read_parquet(file, columns=columns, use_threads=False, pre_buffer=False)


def read_json(path: Path) -> dict[str, Any]:
    """A result in JSON: an object."""
    with reading(path):
        content: Any = json.loads(path.read_text())
        if not isinstance(content, dict):
            raise ValueError("it is no JSON object")
        return content
