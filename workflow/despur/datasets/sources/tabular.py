"""Tables of people as vectors: numbers standardized, words one by one."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import metadata_tables
from despur.storage.store import Array


def parse_numbers(path: Path, table: pd.DataFrame, columns: Sequence[str], remedy: str) -> pd.DataFrame:
    """The table with these columns as numbers. Raises InputError for a value that is none."""
    numbers = table[list(columns)].apply(pd.to_numeric, errors="coerce")
    for column in columns:
        wrong = ~np.isfinite(numbers[column].to_numpy(float))
        if wrong.any():
            raise metadata_tables.fault(path, table[column], int(wrong.argmax()), f"it is no number. {remedy}")
    return table.assign(**{column: numbers[column] for column in columns})


def encode_columns(table: pd.DataFrame, numbers: Sequence[str], words: Sequence[str], trains: Array) -> Array:
    """Columns of a table as vectors, float32 (N,D): numbers less their mean, over their standard deviation (as they are
    where that is 0); of a column of words, 1 for the word and 0 for each other one, in their alphabetical order. Means,
    deviations and words are those of the rows where ``trains`` (N,) is true: another word is 0 everywhere."""
    training = table[trains]
    values = table[list(numbers)].to_numpy(float)
    means, deviations = training[list(numbers)].mean().to_numpy(), training[list(numbers)].std(ddof=0).to_numpy()
    parts = [(values - means) / np.where(deviations > 0, deviations, 1)]
    for column in words:
        known = np.unique(training[column].to_numpy(str))
        parts.append(table[column].to_numpy(str)[:, None] == known)
    return np.concatenate(parts, axis=1).astype(np.float32)
