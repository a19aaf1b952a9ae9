"""Raw files of every data set, cut off, with bytes changed, lines, columns or a class missing, or two of them in each
other's place: read, or refused with the file's name; nothing is written."""

import io
import json
import os
import pickle
import re
import shutil
from collections import Counter
from contextlib import contextmanager
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rehearsal.__main__ import SMALLER
from rehearsal.raw_files import WORDS, draw_vectors, write_all, write_text
from storms.conftest import guarded
from storms.test_configurations import storm
from storms.test_own_data import BROUGHT, write_own

from despur.datasets import coco30
from despur.datasets.sources.embedding_files import read_table, read_vectors
from despur.datasets.sources.metadata_tables import read_table as read_metadata
from despur.datasets.sources.own_files import read_npz
from despur.specs.declarations import list_components
from despur.specs.resolution import resolve
from despur.storage import raw_files
from despur.storage.dataset_checks import build_dataset
from despur.storage.store import InputError, save_dataset

pytestmark = pytest.mark.storm
ROWS = pd.DataFrame({"text": ["a b", "c"] * 9, "y": [0, 1] * 9})
COCO = {
    "categories": [{"id": number, "name": name} for number, name in enumerate(coco30.CATEGORIES)],
    "images": [{"id": 5, "file_name": "a.jpg", "width": 40, "height": 80}],
    "annotations": [{"image_id": 5, "category_id": 1, "bbox": [0, 0, 9, 9]}],
}
READERS = {  # of a kind of file: how it is written, how it is read
    "t.csv": (lambda file: ROWS.to_csv(file), lambda file: read_table(file, ["y"])),
    "t.tsv": (lambda file: ROWS.to_csv(file, sep="\t"), lambda file: read_table(file, ["y"])),
    "t.parquet": (lambda file: ROWS.to_parquet(file), lambda file: read_table(file, ["y"])),
    "t.pickle": (
        lambda file: file.write_bytes(pickle.dumps(ROWS.to_dict("records"))),
        lambda file: read_table(file, ["y"]),
    ),
    "t.pkl": (lambda file: ROWS.to_pickle(file), lambda file: read_table(file, ["y"])),
    "t.npz": (
        lambda file: np.savez(file, features=np.ones((9, 4)), y=np.arange(9), a=np.arange(9), split=["train"] * 9),
        read_npz,
    ),
    "v.npy": (lambda file: np.save(file, np.ones((9, 4))), read_vectors),
    "metadata.csv": (lambda file: ROWS.to_csv(file), lambda file: read_metadata(file, ["y"], "Get it anew")),
    "annotations/instances_train2017.json": (
        lambda file: file.write_text(json.dumps(COCO)),
        lambda file: coco30.objects(file.parents[1], "train"),
    ),
}


def test_a_changed_raw_file_is_read_or_refused_by_name(tmp_path, record):
    (tmp_path / "annotations").mkdir()
    whole = {}
    for name, (write, read) in READERS.items():
        write(tmp_path / name)
        read(tmp_path / name)
        whole[name] = (tmp_path / name).read_bytes()
    counts = {"refused": 0, "read": 0}

    @storm(40)
    @given(st.sampled_from(sorted(READERS)), st.data())
    def run(name, data):
        content, file = bytearray(whole[name]), tmp_path / name
        for _ in range(data.draw(st.integers(0, 3))):
            at = data.draw(st.integers(0, len(content) - 1))
            content[at : at + data.draw(st.integers(0, 4))] = data.draw(st.binary(max_size=4))
        file.write_bytes(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
        try:
            with guarded(tmp_path):
                READERS[name][1](file)
            counts["read"] += 1
        except InputError as error:
            assert str(file) in str(error)
            counts["refused"] += 1

    run()
    outcome = f"{counts['refused']:,} refused with the file's name, {counts['read']:,} read; no other error"
    record("raw files: tables, arrays and annotations, bytes changed or cut off", sum(counts.values()), outcome)
    assert counts["refused"]


OWN = {"imsitu": "", "hate_speech": "features=vectors"}  # else their inputs are made by a model
OTHER = [b"", b"\n", b"<html>404</html>\n", b"\x00" * 50]  # what may lie in the place of a file


def list_points():
    """Every data set that is made from raw files in a published form, in miniature."""
    names = [f"{name}+{SMALLER.get(name, '')}" for name in list_components("datasets") if name not in OWN]
    names += [f"{name}+{settings}" for name, settings in OWN.items()] + [
        "bios+features=tokens",
        BROUGHT["table.parquet"],
    ]
    points = [resolve("datasets", name.rstrip("+")).points[0] for name in names]
    return [point for point in points if raw_files.list_patterns(point)]


@pytest.fixture
def raw(tmp_path, monkeypatch, made_up_sizes):
    """The raw files of every data set, vectors of those that bring their own, and BERT's vocabulary."""
    root, y = tmp_path / "raw", np.arange(160) % 2
    for name, lines in write_all(root).items():
        module = import_module(f"despur.datasets.{name}")
        replaced = dict(vars(module))
        exec(lines, replaced)
        for key in (key for key, value in replaced.items() if vars(module).get(key) is not value):
            monkeypatch.setattr(module, key, replaced[key], raising=False)
    for split, imsitu, tweets in (("train", 96, 160), ("dev", 48, 80), ("test", 48, 80)):
        np.save(root / f"imsitu/{split}.npy", draw_vectors(y[:imsitu], y[:imsitu]))
        np.save(root / f"hate_speech/{split.replace('dev', 'valid')}.npy", draw_vectors(y[:tweets], y[:tweets]))
    write_own(root / "bring_your_own")
    write_text(tmp_path / "bert-base-uncased/vocab.txt", ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS])
    monkeypatch.setenv("DESPUR_WEIGHTS_ROOT", str(tmp_path))
    return root


def list_raw_files(point, root):
    """A data set's raw files; of those with a file for each sample the first one."""
    chosen = (raw_files.choose_alternative(pattern, root) for pattern in raw_files.list_patterns(point))
    found = [min(root.glob(pattern)) for pattern in chosen]
    return list(dict.fromkeys(file if file.is_file() else min(file.rglob("*.*")) for file in found))


def change_content(draw, content):
    """A file cut off, with bytes changed, or lines or a column missing; or something else in its place."""
    kind = draw(st.sampled_from(["bytes", "cut", "lines", "column", "other"]))
    if kind == "bytes":
        changed = bytearray(content)
        for at in draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=4)):
            changed[at] = draw(st.integers(0, 255))
        return bytes(changed)
    if kind == "other":
        return draw(st.sampled_from(OTHER))
    if kind == "cut":
        return content[: draw(st.integers(0, len(content) - 1))]
    lines = content.split(b"\n")
    if kind == "lines":
        first = draw(st.integers(0, len(lines) - 1))
        return b"\n".join(lines[:first] + lines[draw(st.integers(first + 1, len(lines))) :])
    separator, column = draw(st.sampled_from([b",", b"\t", b" "])), draw(st.integers(0, 8))
    fields = [line.split(separator) for line in lines]
    return b"\n".join(separator.join(own[:column] + own[column + 1 :]) for own in fields)


def drop_class(draw, file):
    """Without the rows in which one column has one value: of a table, of arrays, or else of lines of text."""
    if file.suffix in (".npz", ".npy"):
        found = np.load(file)
        arrays = dict(found) if file.suffix == ".npz" else {"": found}
        labels = arrays[draw(st.sampled_from([key for key, array in arrays.items() if array.ndim == 1] or [*arrays]))]
        kept = (labels != draw(st.sampled_from(labels.ravel().tolist()))).reshape(len(labels), -1).all(axis=1)
        arrays = {key: array[kept] if len(array) == len(kept) else array for key, array in arrays.items()}
        return write_bytes(lambda out: np.savez(out, **arrays) if file.suffix == ".npz" else np.save(out, arrays[""]))
    if file.suffix == ".parquet":
        table = pd.read_parquet(file)
        column = table[draw(st.sampled_from([name for name in table if name != "features"]))]
        return write_bytes(table[column != draw(st.sampled_from(column.tolist()))].to_parquet)
    lines, separator = file.read_bytes().split(b"\n"), draw(st.sampled_from([b",", b"\t", b" "]))
    fields = [line.split(separator) for line in lines]
    column = draw(st.integers(0, max(map(len, fields[:-1]), default=1) - 1))
    found = [own[column : column + 1] for own in fields]
    gone = draw(st.sampled_from([value for value in found if value] or [None]))
    return b"\n".join(line for line, value in zip(lines, found, strict=True) if value != gone)


def write_bytes(write):
    """What a function writes into an open file."""
    out = io.BytesIO()
    write(out)
    return out.getvalue()


@contextmanager
def changed(draw, files):
    """One of these files changed, one with a class missing, or two in each other's place; the files that are not what
    they were."""
    kind = draw(st.sampled_from(["content", "class", *["names"] * (len(files) > 1)]))
    chosen = draw(st.permutations(files))[: 1 + (kind == "names")]
    whole = [file.read_bytes() for file in chosen]
    if kind == "names":
        new = whole[::-1]
    else:
        new = [drop_class(draw, chosen[0]) if kind == "class" else change_content(draw, whole[0])]
    try:
        for file, content in zip(chosen, new, strict=True):
            file.write_bytes(content)
        yield kind, chosen
    finally:
        for file, content in zip(chosen, whole, strict=True):
            file.write_bytes(content)


@pytest.mark.long
def test_every_data_set_of_a_changed_raw_file_is_built_or_refused_by_name(tmp_path, raw, record):
    points, out, counts = list_points(), tmp_path / "out", Counter()
    assert {point.base_name for point in points} >= {*SMALLER, "bring_your_own"}

    @storm(60)
    @given(st.sampled_from(points), st.data())
    def run(point, data):
        try:
            with changed(data.draw, list_raw_files(point, raw)) as (kind, files), guarded(out):
                save_dataset(out, {point.name: build_dataset(point, raw)})
            counts[kind, "built"] += 1
        except InputError as error:
            if kind == "names":  # of annotations: the images that they list are said not to be there
                files = [raw / file.relative_to(raw).parts[0] for file in files]
            assert any(str(file) in str(error) for file in files) and "\n" not in str(error), error
            assert not out.exists() or not list(out.iterdir())
            counts[kind, "refused"] += 1
        finally:
            shutil.rmtree(out, ignore_errors=True)

    run()
    refused, built = (sum(counts[key] for key in counts if key[1] == end) for end in ("refused", "built"))
    outcome = f"{refused:,} refused with the file's name, {built:,} built; no other error"
    tried = "bytes, lines, columns or a class missing or changed, names swapped"
    record(f"raw files of every data set: {tried}", refused + built, outcome)
    assert built and {kind for kind, end in counts if end == "refused"} == {"content", "class", "names"}


class Hostile:
    """What a pickle of it runs when it is loaded."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("name", ["t.pickle", "t.pkl", "t.npz", "v.npy", "t.parquet", "t.csv"])
def test_code_in_a_raw_file_does_not_run(tmp_path, name):
    file, trace = tmp_path / name, tmp_path / "trace"
    if name == "t.npz":
        np.savez(file, features=np.array([Hostile(trace)]), y=[0], a=[0], split=["train"])
    elif name == "v.npy":
        np.save(file, np.array([Hostile(trace)]), allow_pickle=True)
    else:
        file.write_bytes(pickle.dumps([Hostile(trace)]))
    with pytest.raises(InputError, match=re.escape(str(file))), guarded(tmp_path / "elsewhere"):
        READERS[name][1](file)
    assert not trace.exists()
    pickle.loads(pickle.dumps(Hostile(trace)))  # what would have run
    assert trace.exists()
