"""The labels of your own data: what is missing, splits by name, values numbered; what cannot be right is refused.
Errors name file and column."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files
from despur.storage.store import MISSING, Array, InputError

SPLITS = r"train|val|test\w*"  # what a split may be called
NUMBERS = "biuf"  # numpy's letters for kinds of values
NOTHING = ("", "nan", "NaN", "None", "<NA>", "NaT")  # what numpy and pandas write for a missing value among texts


def find_missing(column: pd.Series, *codes: int) -> Array:
    """Which values are missing, bool (N,): NaN, None, an empty text, or a text that arrays of texts have instead; and
    these ``codes``."""
    if column.dtype.kind in NUMBERS:
        return (column.isna() | column.isin(codes)).to_numpy()
    return (column.isna() | column.astype(str).str.strip().isin([*NOTHING, *map(str, codes)])).to_numpy()


def number_values(column: pd.Series, missing: Array) -> tuple[Array, list[str]]:
    """Values in sorted order numbered from 0, ``MISSING`` where they are missing, and what they are called."""
    kind = {"b": bool, "i": np.int64, "u": np.uint64, "f": np.int64}.get(column.dtype.kind, str)
    numbers = np.full(len(column), MISSING)
    values, numbers[~missing] = np.unique(column[~missing].to_numpy().astype(kind), return_inverse=True)
    return numbers, [str(value) for value in values]


def read_splits(path: Path, column: pd.Series) -> pd.Series:
    """Names of splits. Raises InputError for others than train, val, test and what begins with test."""
    texts = column.map(str.strip) if column.map(type).eq(str).all() else column
    splits = embedding_files.name_splits(str(path), texts)
    right = [name for name in splits.unique() if re.fullmatch(SPLITS, str(name))]
    if (wrong := ~splits.isin(right)).any():
        row = int(wrong.argmax())
        raise InputError(
            f"{path}: split of sample {row} is {splits.iloc[row]!r}{count_others(wrong)}: splits are train, val and "
            "test; the name of a further test split begins with test"
        )
    return splits


def refuse_missing(path: Path, column: pd.Series, missing: Array) -> None:
    """Raises InputError for the first missing value."""
    if missing.any():
        raise InputError(
            f"{path}: {column.name} of sample {int(missing.argmax())} is missing{count_others(missing)}: say what it "
            "is, or leave the sample out"
        )


def refuse_alike(path: Path, key: str, names: Sequence[str]) -> None:
    """Raises InputError for names that differ only in spaces or capital letters."""
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(" ".join(name.split()).lower(), []).append(name)
    if twice := next((spellings for spellings in alike.values() if len(spellings) > 1), None):
        raise InputError(f"{path}: {key} has {' and '.join(map(repr, twice))}: spell them alike, or as other words")


def refuse_measured(path: Path, column: pd.Series) -> None:
    """Raises InputError for values that are measured, not counted, or too large for their floats to be exact."""
    broken = np.zeros(len(column), bool)
    if column.dtype.kind == "f":
        large = np.abs(column.to_numpy(float)) >= 2.0 ** (np.finfo(column.dtype).nmant + 1)
        if large.any():
            row = int(large.argmax())
            raise InputError(
                f"{path}: {column.name} of sample {row} is {column.iloc[row]}{count_others(large)}: too large for "
                f"{column.dtype} to be exact; save whole numbers or texts"
            )
        broken = column.to_numpy() % 1 != 0
    if broken.any() or column.nunique() > max(20, len(column) // 2):
        shown = f"{column.iloc[int(broken.argmax())]} of sample {int(broken.argmax())}, " if broken.any() else ""
        raise InputError(
            f"{path}: {column.name} has {column.nunique()} values ({shown}{len(column)} samples): it seems continuous. "
            "Classes and attributes are names or whole numbers that many samples share: sort it into a few intervals"
        )


def count_others(faulty: Array) -> str:
    """How many samples have the fault that the first has, in words; nothing for one."""
    return f" ({faulty.sum():,} samples are at fault)" if faulty.sum() > 1 else ""
