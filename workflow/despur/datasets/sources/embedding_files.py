"""Raw files of embeddings and tables: read and validated. Every error names the file and the remedy."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from despur.datasets.sources import metadata_tables
from despur.datasets.sources.pickled_tables import read_pickled_data
from despur.storage.dataset_checks import validate
from despur.storage.reading import BROKEN, read_parquet
from despur.storage.store import MISSING, Array, Dataset, InputError, Lazy

SPLITS = {"dev": "val", "valid": "val", "validation": "val"}  # other words for the split that selects


def list_files(paths: Iterable[Path]) -> str:
    """The files that an error may be in, for its message."""
    return ", ".join(map(str, paths))


def read_array(path: Path, remedy: str) -> Array:
    """The array of a .npy file, memory-mapped. Raises InputError for any other file."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise TypeError("it holds several arrays, as an .npz")
        return array
    except NO_ARRAY as error:
        raise InputError(f"{path} is no array of numbers ({metadata_tables.join_lines(error)}). {remedy}") from error


def read_vectors(path: Path) -> Array:
    """A float array (N,D) of a .npy file, memory-mapped."""
    vectors = read_array(path, "Save it with numpy.save")
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise InputError(f"{path} holds {vectors.dtype} {vectors.shape}; vectors are floats (samples, dimensions)")
    return vectors


def find_vectors(table: Path, ending: str, rows: int, remedy: str) -> tuple[Path, Array]:
    """The file of vectors beside a table of so many ``rows``, whose name has this ``ending``, and its content (N,D).
    Raises InputError for another number of rows."""
    path = metadata_tables.find(table.parent, f"{table.stem}{ending}", remedy)
    vectors = read_vectors(path)
    if len(vectors) != rows:
        raise InputError(f"{path} has {len(vectors)} rows, but {table} has {rows}: get both of one release. {remedy}")
    return path, vectors


# What numpy raises for bytes that are no whole .npy or .npz, or the one in the other's place (TypeError).
NO_ARRAY = (*BROKEN, MemoryError, TypeError)


# What pandas and pyarrow raise for bytes that are no whole table.
NO_TABLE = (ValueError, TypeError, AttributeError, LookupError, OverflowError, MemoryError, OSError, pa.ArrowException)


def read_table(path: Path, columns: Iterable[str]) -> pd.DataFrame:
    """A .parquet, .tsv, .csv, or a pickled list of rows, with at least these columns."""
    tabs = path.suffix == ".tsv"
    try:
        if path.suffix == ".parquet":
            table = read_parquet(path)
        elif path.suffix in (".pickle", ".pkl"):
            table = pd.DataFrame(read_pickled_data(path))
        else:
            table = pd.read_csv(path, sep="\t" if tabs else ",", quoting=3 if tabs else 0)
    except NO_TABLE as error:
        reason = metadata_tables.join_lines(error)
        raise InputError(f"{path} cannot be read as a table ({reason}). Get it anew") from error
    metadata_tables.require_columns(path, columns, table)
    return table


def encode_labels(values: Sequence[Any] | Array, names: Sequence[str], what: str, source: Path | str) -> Array:
    """Positions in ``names``, int64 (N,); values may be the names, or positions already."""
    position: dict[Any, int] = {name: i for i, name in enumerate(names)}
    position |= {i: i for i in range(len(names))}
    if unknown := [v for v in values if v not in position]:
        raise InputError(f"{source}: {what} {unknown[0]!r} is none of {', '.join(names)}")
    return np.array([position[v] for v in values], np.int64)


def name_splits(source: str, splits: pd.Series) -> pd.Series:
    """Names of splits, in small letters. Numbers are WILDS's codes. Raises InputError for another number."""
    if pd.api.types.is_numeric_dtype(splits) and not splits.isna().any():
        unknown = splits[~splits.isin(list(metadata_tables.SPLITS))]
        if len(unknown):
            raise InputError(
                f"{source}: split of sample {unknown.index[0]} is {unknown.iloc[0]}; it must be a name (train, val, "
                "test) or one of WILDS's codes: 0 train, 1 val, 2 test"
            )
        return splits.map(metadata_tables.SPLITS)
    names = splits.astype(object)
    small = {name: name.lower() for name in names.unique() if isinstance(name, str)}
    return names.map({name: SPLITS.get(word, word) for name, word in small.items()}).fillna(names)


def dataset(
    source: Path,
    inputs: Array | Lazy,
    table: pd.DataFrame,
    about: dict[str, Any],
    class_embeddings: Array | None = None,
) -> Dataset:
    """A data set of checked samples: ``table`` has ``split``, ``y`` and ``a``; ``original`` where samples share one.

    ``source``: a file, or the folder of the files in about["sha256"]. Raises InputError, naming them, for what the
    dataset checks refuse, a class or attribute with a single value in training, or a split that is missing."""
    paths = [source / name for name in about.get("sha256", ())] if source.is_dir() else [source]
    files = list_files(paths)
    table = table.assign(original=table.get("original", np.arange(len(table)))).reset_index(drop=True)
    if "split" in table:  # else the dataset checks report it
        table["split"] = name_splits(files, table["split"])
    made = validate(files, Dataset(inputs, table, about, class_embeddings=class_embeddings))
    if not len(made.rows("val")):
        raise InputError(f"{files}: no sample of the split val; there are {', '.join(map(str, made.splits))}")
    for what, values in (("class", made.y), ("attribute", made.a)):
        train_values = values[made.rows_with_attribute("train") if what == "attribute" else made.rows("train")]
        if len(np.unique(train_values)) == 1 or len(np.unique(values[values != MISSING])) < 2:
            known = " whose attribute is known" if what == "attribute" and (values == MISSING).any() else ""
            raise InputError(
                f"{files}: all training samples{known} have the same {what}: nothing can be learned or compared"
            )
    return made
