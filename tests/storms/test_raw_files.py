"""Raw files, cut off or with bytes changed at random: read, or refused with the file's name."""

import json
import os
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from storms.conftest import guarded
from storms.test_configurations import storm

from despur.datasets import coco30
from despur.datasets.bring_your_own import read_npz
from despur.datasets.sources.embedding_files import read_table, read_vectors
from despur.datasets.sources.metadata_tables import read_table as read_metadata
from despur.datasets.sources.pickled_tables import read_pickled_table
from despur.storage.store import InputError

pytestmark = pytest.mark.storm
ROWS = pd.DataFrame({"text": ["a b", "c"] * 9, "y": [0, 1] * 9})
COCO = {
    "categories": [{"id": 1, "name": "zebra"}],
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
    "t.pkl": (lambda file: ROWS.to_pickle(file), lambda file: read_pickled_table(file, ["y"])),
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
