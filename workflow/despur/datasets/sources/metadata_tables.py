"""Tables of labels that a user has downloaded: found, read and checked. Every error names the file, the column and the
remedy."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from despur.storage import raw_files
from despur.storage.store import Array, InputError

SPLITS = {0: "train", 1: "val", 2: "test"}  # WILDS's codes


def find(root: Path, pattern: str, remedy: str) -> Path:
    """The first of a pattern's alternatives that something below ``root`` matches, as of raw files. Raises InputError
    that lists them if nothing matches one."""
    if chosen := raw_files.choose_alternative(pattern, root):
        return root / chosen
    raise InputError(f"{root.resolve()} holds no {pattern.replace(' |', ' or')}. {remedy}")


def sha256(*paths: Path) -> dict[str, str]:
    """Checksums by file name."""
    return {path.name: raw_files.sha256(path) for path in paths}


def read_lines(path: Path, remedy: str) -> list[str]:
    """The lines of a text. Raises InputError for a file that is no text in UTF-8."""
    try:
        # splitlines would cut at more characters than the end of line
        return path.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
    except (UnicodeDecodeError, OSError) as error:
        raise InputError(f"{path} cannot be read as text ({join_lines(error)}). {remedy}") from error


def read_words(path: Path, remedy: str) -> list[str]:
    """The words of a text, of which there is at least one. Raises InputError otherwise."""
    words = " ".join(read_lines(path, remedy)).split()
    if not words:
        raise InputError(f"{path} is empty. {remedy}")
    return words


def read_fields(path: Path, separator: str | None, width: int, remedy: str) -> list[list[str]]:
    """The ``width`` fields of each line that is not empty, separated by blanks (None) or ``separator``.

    Raises InputError for a line with more or fewer."""
    lines = [(number, line) for number, line in enumerate(read_lines(path, remedy), 1) if line.strip()]
    fields = [line.split(separator) for _, line in lines]
    for (number, _), line_fields in zip(lines, fields, strict=True):
        if len(line_fields) != width:
            raise InputError(f"{path}: line {number} has {len(line_fields)} fields, not {width}. {remedy}")
    return fields


def join_lines(error: Exception) -> str:
    """What an error of a library says, in one line."""
    return " ".join(str(error).split())


def read_table(
    path: Path,
    columns: Sequence[str],
    remedy: str,
    may_be_empty: Sequence[str] = (),
    unique: Sequence[str] = (),
    **options: Any,
) -> pd.DataFrame:
    """These columns of a table with a header, (N, columns); commas unless ``options`` of read_csv say otherwise, any
    line ends.

    Raises InputError for a missing column, a file that is no table, an empty value of a column that may not be empty,
    and a value that a ``unique`` column has twice.
    """
    try:
        require_columns(path, columns, pd.read_csv(path, nrows=0, encoding="utf-8-sig", **options), f". {remedy}")
        table = pd.read_csv(path, usecols=list(columns), encoding="utf-8-sig", **options)
    except (ValueError, OSError) as error:  # pandas' errors are ValueErrors
        raise InputError(f"{path} cannot be read as a table ({join_lines(error)}). {remedy}") from error
    for column in columns:
        values = table[column]
        empty, again = values.isna() | (values == ""), values.duplicated() & values.notna()
        if column not in may_be_empty and empty.any():
            raise fault(path, values, int(empty.to_numpy().argmax()), f"it may not be empty. {remedy}")
        if column in unique and again.any():
            raise fault(path, values, int(again.to_numpy().argmax()), f"an earlier one has it, too. {remedy}")
    return table


def require_columns(path: Path, columns: Iterable[str], table: pd.DataFrame, remedy: str = "") -> None:
    """Raises InputError for a file's ``table`` that lacks one of these columns."""
    if missing := [name for name in columns if name not in table]:
        raise InputError(f"{path} has no column {', '.join(missing)}; it has {', '.join(map(str, table))}{remedy}")


def fault(path: Path, column: pd.Series, row: int, remedy: str) -> InputError:
    """The error for a value that cannot be used."""
    value = column.iloc[row]
    shown = repr(value) if isinstance(value, str) else value
    return InputError(f"{path}: column {column.name} is {shown} for {row + 1}. sample; {remedy}")


def decode(path: Path, column: pd.Series, meaning: Mapping[Any, Any], remedy: str) -> Array:
    """What the codes of a column mean, (N,). Raises InputError for the first one that means nothing."""
    wrong = np.flatnonzero(~column.isin(list(meaning)))
    if len(wrong):
        choices = ", ".join(f"{code} ({name})" for code, name in meaning.items())
        raise fault(path, column, int(wrong[0]), f"known: {choices}. {remedy}")
    return column.map(meaning).to_numpy()


def decode_splits(path: Path, column: pd.Series, meaning: Mapping[Any, str], remedy: str) -> Array:
    """Names of splits, (N,); none may be empty."""
    split = decode(path, column, meaning, remedy)
    for name in meaning.values():
        if name not in split:
            raise InputError(f"{path}: column {column.name} leaves the split {name} empty. {remedy}")
    return split
