"""The file of your own data: found, read, and refused where its shapes or kinds cannot be right. Errors name file and
column."""

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from despur.datasets.sources import embedding_files, metadata_tables
from despur.datasets.sources.own_labels import NUMBERS
from despur.storage.store import Array, InputError

LABEL_COLUMNS = ("y", "a", "split")
READ = ("features", *LABEL_COLUMNS, "original")
LABELS = f"{NUMBERS}SUMm"  # numpy's letters for numbers, texts and times
ONE_FOR_EACH = "one whole number or text for each sample"


def find_own_file(folder: Path, name: str) -> Path:
    """The one file of this name. Raises InputError for none, for two, and for what is no file."""
    names = [f"{name}.parquet", f"{name}.npz", f"{name}/metadata.csv"]
    for file in (folder / name for name in names):
        if file.is_symlink() and not file.exists():
            raise InputError(f"{file} is a link to {file.readlink()}, which is not there")
    remedy = f"The folder {name} lacks its table metadata.csv" if (folder / name).is_dir() else "Put your data there"
    path = metadata_tables.find(folder, " | ".join(names), f"{remedy}: docs/your_own_data.md")
    if len(there := [name for name in names if (folder / name).exists()]) > 1:
        raise InputError(f"{folder} holds {' and '.join(there)}: keep one of them, move the rest away")
    if not path.is_file():
        raise InputError(f"{path} is no file: put the data there, as docs/your_own_data.md says")
    return path


def read_npz(path: Path) -> tuple[Array, pd.DataFrame, Array | None]:
    """Arrays features, y, a, split and perhaps original; and perhaps class_embeddings, a row for each class in sorted
    order."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: standardize(file[name]) for name in file.files}
    except embedding_files.NO_ARRAY as error:
        raise InputError(
            f"{path} cannot be read ({error}); save it with numpy.savez, texts as texts, not as objects"
        ) from error
    if missing := [name for name in ("features", *LABEL_COLUMNS) if name not in arrays]:
        raise InputError(f"{path} has no array {', '.join(missing)}; it has {', '.join(arrays)}")
    refuse_unread(path, arrays, (*READ, "class_embeddings"))
    columns = {name: arrays[name] for name in (*LABEL_COLUMNS, "original") if name in arrays}
    refuse_labels(path, columns)
    given = arrays.get("class_embeddings")
    if given is not None and (given.dtype.kind not in NUMBERS or given.ndim != 2 or not given.size):
        shape = f"{given.dtype} {given.shape}"
        raise InputError(f"{path}: class_embeddings are {shape}; bring a row of finite numbers for each class, (C,D)")
    return arrays["features"], pd.DataFrame(columns), given


def read_parquet(path: Path) -> tuple[Array | None, pd.DataFrame, None]:
    """A column features of lists, or a column of texts, which stays in the table; or every other column, of numbers, is
    one feature."""
    table = embedding_files.read_table(path, LABEL_COLUMNS)
    kept = [name for name in (*LABEL_COLUMNS, "original") if name in table]
    if "class_embeddings" in table:
        raise InputError(
            f"{path}: class_embeddings have a row for each class, not for each sample: bring all as {path.stem}.npz"
        )
    for key in kept:
        refuse_values(path, table[key], Hashable, ONE_FOR_EACH)
    inputs = next((name for name in ("text", "features") if name in table), None)
    if inputs:
        refuse_unread(path, table, (inputs, *READ[1:]))
    if inputs == "text":
        refuse_values(path, table["text"], str, "a text for each sample")
        return None, table, None
    if inputs == "features":
        return stack_lists(path, table["features"]), table[kept], None
    features = table.drop(columns=kept)
    text = [str(name) for name in features if not pd.api.types.is_numeric_dtype(features[name])]
    if text or features.empty:
        raise InputError(
            f"{path}: {', '.join(text) or 'no column'} cannot be a feature; columns beside y, a, split, "
            "original must be numbers"
        )
    # Columns of several kinds: numbers with booleans, or a missing value, which the dataset checks name.
    arrays = features.to_numpy()
    return features.to_numpy(float, na_value=np.nan) if arrays.dtype == object else arrays, table[kept], None


def standardize(array: Array) -> Array:
    """An array in this machine's order of bytes, with texts as texts."""
    return np.char.decode(array, "utf-8") if array.dtype.kind == "S" else array.astype(array.dtype.newbyteorder("="))


def refuse_unread(path: Path, given: Iterable[str], read: Sequence[str]) -> None:
    """Raises InputError for names that nothing reads: one may be a misspelled one."""
    if unread := [name for name in given if name not in read]:
        raise InputError(
            f"{path}: nothing reads {', '.join(unread)}; it may hold {', '.join(read)}: leave out the rest"
        )


def refuse_labels(path: Path, columns: dict[str, Array]) -> None:
    """Raises InputError for arrays of a shape, kind or length that columns of a table cannot have."""
    for key, column in columns.items():
        if column.ndim != 1 or column.dtype.kind not in LABELS:
            raise InputError(f"{path}: {key} is {column.dtype} {column.shape}; it must have {ONE_FOR_EACH}, (N,)")
    sizes = {key: len(column) for key, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise InputError(f"{path}: arrays of different lengths: {sizes}")


def refuse_values(path: Path, column: pd.Series, kind: type, wanted: str) -> None:
    """Raises InputError for the first value of a column that is not of a kind."""
    wrong = {value_kind for value_kind in set(map(type, column)) if not issubclass(value_kind, kind)}
    for row, value in enumerate(column if wrong else ()):
        if type(value) in wrong:
            spelled = " ".join(repr(value).split())
            raise InputError(f"{path}: {column.name} of sample {row} is {spelled:.80}; it must have {wanted}")


def stack_lists(path: Path, column: pd.Series) -> Array:
    """A column of lists as one array (N,D)."""
    refuse_values(path, column, np.ndarray, "a list of numbers for each sample")
    sizes = {len(row) for row in column}
    if len(sizes) != 1:
        shown = f"{min(sizes)} to {max(sizes)} values" if sizes else "no sample"
        raise InputError(f"{path}: features have {shown}; every sample needs as many")
    return np.stack(list(column))


def check_features(path: Path, features: Array) -> tuple[Array, bool]:
    """Features, gray images with three equal channels as all encoders of images take colors, and whether they are
    images. Raises InputError for what are neither images nor embeddings."""
    if features.dtype == np.uint8 and (features.ndim == 3 or features.shape[3:] == (1,)):
        features = np.repeat(features.reshape(*features.shape[:3], 1), 3, axis=3)
    image = features.dtype == np.uint8 and features.shape[3:] == (3,)
    if features.dtype.kind not in NUMBERS or not (image or features.ndim == 2) or not features.size:
        accepted = "images as uint8 (N,H,W,3), gray ones as uint8 (N,H,W), embeddings as numbers (N,D)"
        raise InputError(f"{path}: features are {features.dtype} {features.shape}; bring {accepted}")
    return features, image
