"""A user's own data, arrays and columns of other shapes and kinds, with values or arrays missing: built, or refused
with the file's name; nothing is written."""

import re
import shutil
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet
from storms.conftest import guarded
from storms.test_configurations import storm

from despur.specs.resolution import resolve
from despur.storage.dataset_checks import build_dataset
from despur.storage.store import InputError, save_dataset

pytestmark = pytest.mark.storm
BROUGHT = {"task.npz": "bring_your_own", "table.parquet": "bring_your_own+name=table"}
KINDS = ("?", "u1", "u8", "f2", "f8", "g", "c16", "U3", "S3", "M8[s]", "m8[s]", "i4,i4")
SHAPES = {  # of an array (N,...): what a user may save in its place
    "scalar": lambda array: array.ravel()[0],
    "column": lambda array: array[:, None],
    "one hot": lambda array: np.eye(2)[np.arange(len(array)) % 2],
    "no columns": lambda array: np.zeros((len(array), 0), array.dtype),
    "no rows": lambda array: array[:0],
    "too short": lambda array: array[:-1],
    "one too many": lambda array: np.concatenate([array, array[:1]]),
    "transposed": lambda array: array.T,
    "all the same": lambda array: np.broadcast_to(array[:1], array.shape),
    "backwards": lambda array: array[::-1],
    "images": lambda array: np.zeros((len(array), 4, 4, 3), np.uint8),
}
VALUES = (
    None,
    [],
    [1],
    [1.0, None],
    [[1.0, 2.0], [3.0, 4.0]],
    {"b": 1},
    "text",
    b"bytes",
    1,
    0.5,
    np.nan,
    np.inf,
    True,
)


def own_arrays():
    """What a user may bring: two features, all four groups in each split."""
    y, a = np.arange(24) % 2, np.arange(24) // 2 % 2
    split = np.repeat(["train", "val", "test"], 8)
    return {"features": np.column_stack([y + 0.5, a]), "y": y, "a": a, "split": split, "original": np.arange(24)}


def write_own(folder):
    """The same as task.npz and, but for class embeddings, as table.parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = own_arrays()
    np.savez(folder / "task.npz", **arrays, class_embeddings=np.eye(2))
    pd.DataFrame(arrays | {"features": list(arrays["features"])}).to_parquet(folder / "table.parquet")


def change_array(draw, array):
    """An array of another kind or shape, or with a value that is not a number."""
    how = draw(st.sampled_from(["kind", "shape", "value"]))
    if how == "shape":
        return SHAPES[draw(st.sampled_from(sorted(SHAPES)))](array)
    if how == "kind":
        source = np.arange(array.size).reshape(array.shape) % 2 if array.dtype.kind == "U" else array
        return source.astype(draw(st.sampled_from(KINDS)))
    changed = array.astype("U9" if array.dtype.kind == "U" else float)
    changed[draw(st.integers(0, len(array) - 1))] = draw(st.sampled_from([np.nan, np.inf, -1, 0.5, 1e300]))
    return changed


def change_arrays(draw, file):
    """An npz with up to two arrays missing or changed."""
    arrays = dict(np.load(file))
    for name in draw(st.lists(st.sampled_from(sorted(arrays)), min_size=1, max_size=2, unique=True)):
        array = arrays.pop(name)
        if draw(st.integers(0, 5)):
            arrays[name] = change_array(draw, array)
    np.savez(file, **arrays)


def change_columns(draw, file):
    """A parquet with a column missing, or with other values in all or some of its rows."""
    table = pd.read_parquet(file)
    name, value = draw(st.sampled_from(list(table))), draw(st.sampled_from(VALUES))
    first, end = sorted(draw(st.tuples(st.integers(0, 24), st.integers(0, 24)) | st.just((0, 24))))
    kept = table[name].tolist()
    column = [*kept[:first], *[value] * (end - first), *kept[end:]]
    table = table.drop(columns=name)
    if draw(st.integers(0, 5)):
        try:
            array = pa.array(column)
        except pa.ArrowException:  # no column holds both kinds of values
            array = pa.array([value] * len(table))
        return parquet.write_table(pa.Table.from_pandas(table).append_column(name, array), file)
    return table.to_parquet(file)


@pytest.mark.parametrize(("name", "change"), [("task.npz", change_arrays), ("table.parquet", change_columns)])
def test_own_data_that_is_changed_is_built_or_refused_by_name(tmp_path, record, name, change):
    file, out, counts = tmp_path / "bring_your_own" / name, tmp_path / "out", Counter()
    (point,) = resolve("datasets", BROUGHT[name]).points

    @storm(60)
    @given(st.data())
    def run(data):
        write_own(file.parent)
        change(data.draw, file)
        try:
            with guarded(out):
                save_dataset(out, {point.name: build_dataset(point, tmp_path)})
            counts["built"] += 1
        except InputError as error:
            assert str(file) in str(error) and not re.search(r"[\n\r]", str(error)), error
            assert not out.exists() or not list(out.iterdir())
            counts["refused"] += 1
        finally:
            shutil.rmtree(out, ignore_errors=True)

    run()
    outcome = f"{counts['refused']:,} refused with the file's name, {counts['built']:,} built; no other error"
    kind = file.suffix.removeprefix(".")
    record(f"own data as {kind}: arrays missing, of other shapes, kinds and values", sum(counts.values()), outcome)
    assert counts["refused"] and counts["built"]
