import errno
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file

from despur.storage.containers import Container
from despur.storage.reading import reading
from despur.storage.store import Dataset, InputError, atomic, load_dataset, save_dataset, write_csv, write_json


def made_up(count, seed=0):
    """Images, two classes, three attribute values, splits in order."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "split": np.sort(rng.choice(["test", "train", "val"], count)),
            "y": rng.integers(0, 2, count),
            "a": rng.integers(0, 3, count),
            "original": np.arange(count),
        }
    )
    about = {"classes": ["cat", "dog"], "attributes": ["red", "green", "blue"], "source": f"seed {seed}"}
    return Dataset(rng.integers(0, 256, (count, 4, 5, 3), dtype=np.uint8), table, about)


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_atomic_replaces_the_file_when_the_block_succeeds(tmp_path):
    path = tmp_path / "deep" / "result.txt"
    for text in ("first", "second"):
        with atomic(path) as temporary:
            temporary.write_text(text)
        assert path.read_text() == text
    assert files(path.parent) == ["result.txt"]


def test_atomic_shows_nothing_before_the_end(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    with atomic(path) as temporary:
        temporary.write_text("half")
        assert path.read_text() == "old"
        assert temporary.parent == path.parent
        assert temporary.suffix == path.suffix


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES])
def test_what_the_operating_system_refuses_is_said(tmp_path, monkeypatch, code):
    def refuse(*_, **__):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(InputError, match=f"about.json cannot be written: {os.strerror(code)}"):
        write_json(tmp_path / "about.json", {})


def test_of_an_error_that_does_not_state_it_the_free_space_tells(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**16 - 1))
    said = "models cannot be written: No space left on device"
    with pytest.raises(InputError, match=said), atomic(tmp_path / "models"):
        raise RuntimeError("half way")
    assert files(tmp_path) == []


def test_atomic_keeps_the_old_file_when_the_block_fails(tmp_path):
    path = tmp_path / "result.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError, match="half way"), atomic(path) as temporary:
        temporary.write_text("half")
        raise RuntimeError("half way")
    assert path.read_text() == "old"
    assert files(tmp_path) == ["result.txt"]


def test_an_input_that_cannot_be_read_is_not_said_to_be_a_disk_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match=r"^a\.jpg cannot be used"), atomic(tmp_path / "inputs.npy"):
        raise InputError("a.jpg cannot be used") from PermissionError(errno.EACCES, os.strerror(errno.EACCES), "a.jpg")
    assert files(tmp_path) == []


def make_folder(path):
    path.mkdir()


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as own:
        own.bind(str(path))


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


SPECIAL = {"folder": make_folder, "pipe": os.mkfifo, "socket": make_socket, "device": make_device}


@pytest.mark.parametrize("make", SPECIAL.values(), ids=SPECIAL)
@pytest.mark.parametrize("linked", [False, True], ids=["itself", "a link to it"])
def test_what_is_no_regular_file_is_not_replaced(tmp_path, monkeypatch, make, linked):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    make(Path("special"))
    Path("link").symlink_to("special")
    before = os.lstat("special")
    name = "link" if linked else "special"
    with pytest.raises(InputError, match=f"^{name} is a .*, and only a file is written over"), atomic(Path(name)):
        pytest.fail("the block does not run")
    after = os.lstat("special")
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode) and Path("link").is_symlink()
    assert files(tmp_path) == ["link", "special"]


def test_a_pipe_behind_a_folder_that_is_made_first_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="is a device, a pipe or a socket"), atomic(tmp_path / "new/../pipe"):
        pytest.fail("the block does not run")
    assert stat.S_ISFIFO(os.lstat(tmp_path / "pipe").st_mode)


@pytest.mark.parametrize("name", ["file/below", "a" * 300, "/proc/nowhere/x"])
def test_a_place_where_no_file_can_be_is_named(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("mine")
    with pytest.raises(InputError, match=rf"^{name} cannot be written: .*\. Choose another name"), atomic(Path(name)):
        pytest.fail("the block does not run")
    assert files(tmp_path) == ["file"] and Path("file").read_text() == "mine"


KILLED = """
import os, sys
from pathlib import Path
from despur.storage.store import atomic

with atomic(Path(sys.argv[1])) as one, atomic(Path(sys.argv[2])) as other:
    one.write_text("half")
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_process_left_is_removed_when_the_file_is_written_again(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a[1].csv", tmp_path / "a[1].csv.csv"])
    assert len(files(tmp_path)) == 2
    with atomic(tmp_path / "a[1].csv") as first:
        first.write_text("first")
        with atomic(tmp_path / "a[1].csv") as second:  # at the same time: what is in use stays
            second.write_text("second")
        assert (tmp_path / "a[1].csv").read_text() == "second"
    assert (tmp_path / "a[1].csv").read_text() == "first"
    (other,) = {*files(tmp_path)} - {"a[1].csv"}
    assert other.startswith(".a[1].csv.csv.")


def test_results_are_readable_by_others(tmp_path):
    write_json(tmp_path / "about.json", {})
    assert (tmp_path / "about.json").stat().st_mode & 0o777 == 0o644


def test_json_does_not_depend_on_the_order_of_keys(tmp_path):
    write_json(tmp_path / "a.json", {"b": [1, 0.1], "a": {"d": None, "c": "x"}})
    write_json(tmp_path / "b.json", {"a": {"c": "x", "d": None}, "b": [1, 0.1]})
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert json.loads((tmp_path / "a.json").read_text()) == {"a": {"c": "x", "d": None}, "b": [1, 0.1]}


def test_csv_keeps_every_digit(tmp_path):
    table = pd.DataFrame({"name": ["a", "b"], "value": [1 / 3, np.nan]})
    write_csv(tmp_path / "table.csv", table)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "table.csv", float_precision="round_trip"), table, check_exact=True
    )


def test_groups_are_class_by_attribute_unless_given():
    dataset = made_up(50)
    assert dataset.about["groups"] == ["cat, red", "cat, green", "cat, blue", "dog, red", "dog, green", "dog, blue"]
    assert (dataset.groups.sum(axis=1) == 1).all()
    for row in range(50):
        name = f"{['cat', 'dog'][dataset.table['y'][row]]}, {['red', 'green', 'blue'][dataset.table['a'][row]]}"
        assert dataset.about["groups"][dataset.groups[row].argmax()] == name


def test_given_groups_are_kept():
    dataset = made_up(6)
    overlapping = np.ones((6, 2), dtype=bool)
    again = Dataset(dataset.inputs, dataset.table, {**dataset.about, "groups": ["all", "everyone"]}, overlapping)
    assert again.groups is overlapping
    assert again.about["groups"] == ["all", "everyone"]


def test_rows_of_the_splits_are_all_rows():
    dataset = made_up(40)
    assert set(dataset.splits) == {"test", "train", "val"}
    assert sorted(np.concatenate([dataset.rows(split) for split in dataset.splits])) == list(range(40))
    for split in dataset.splits:
        assert set(dataset.table["split"][dataset.rows(split)]) == {split}
    assert len(dataset.rows("no such split")) == 0


def test_points_of_a_data_set_are_read_back_apart(tmp_path):
    points = {"toy": made_up(30, 0), "toy+draw=1": made_up(17, 1), "toy+draw=2": made_up(5, 2)}
    save_dataset(tmp_path / "toy", points)
    for name, point in points.items():
        again = load_dataset(tmp_path / "toy", name)
        assert np.array_equal(again.inputs, point.inputs)
        assert np.array_equal(again.groups, point.groups)
        assert again.about == point.about
        pd.testing.assert_frame_equal(again.table, point.table)


def test_inputs_stay_on_disk_in_their_type(tmp_path):
    save_dataset(tmp_path, {"toy": made_up(3)})
    inputs = load_dataset(tmp_path, "toy").inputs
    assert isinstance(inputs, np.memmap)
    assert inputs.dtype == np.uint8


def test_masks_are_read_back_and_are_none_where_there_are_none(tmp_path):
    first, second = made_up(4), made_up(3, 1)
    save_dataset(tmp_path, {"toy": first, "toy+draw=1": second})
    assert load_dataset(tmp_path, "toy+draw=1").masks is None
    first.masks, second.masks = np.eye(4, 20, dtype=bool).reshape(4, 4, 5), np.ones((3, 4, 5), dtype=bool)
    save_dataset(tmp_path, {"toy": first, "toy+draw=1": second})
    assert np.array_equal(load_dataset(tmp_path, "toy").masks, first.masks)
    assert np.array_equal(load_dataset(tmp_path, "toy+draw=1").masks, second.masks)


def test_embeddings_and_overlapping_groups_are_kept(tmp_path):
    images = made_up(8)
    groups = np.random.default_rng(0).random((8, 5)) < 0.5
    embedded = Dataset(
        np.random.default_rng(1).random((8, 7), dtype=np.float32),
        images.table,
        {**images.about, "groups": list("abcde")},
        groups,
    )
    save_dataset(tmp_path, {"toy": embedded})
    again = load_dataset(tmp_path, "toy")
    assert np.array_equal(again.inputs, embedded.inputs)
    assert np.array_equal(again.groups, groups)
    assert again.about["groups"] == list("abcde")


def test_a_point_that_a_folder_does_not_hold_is_an_error_that_names_both(tmp_path):
    save_dataset(tmp_path / "toy", {"toy": made_up(3)})
    with pytest.raises(InputError) as error:
        load_dataset(tmp_path / "toy", "toy+draw=1")
    assert str(tmp_path / "toy") in str(error.value)
    assert "toy+draw=1" in str(error.value)
    assert "delete" in str(error.value)


@pytest.mark.parametrize("size", [0, 10, 0.5, -5])
@pytest.mark.parametrize("name", ["table.parquet", "about.json", "groups.npz", "inputs.npy", "masks.npy"])
def test_a_broken_file_of_a_data_set_is_named_with_the_remedy(tmp_path, name, size):
    dataset = made_up(40)
    dataset.masks = np.ones(dataset.inputs.shape[:3], bool)
    save_dataset(tmp_path, {"toy": dataset})
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2 if size == 0.5 else size])
    with pytest.raises(InputError) as error:
        load_dataset(tmp_path, "toy")
    text = str(error.value)
    assert text.startswith(f"{tmp_path / name} is broken (") and "\n" not in text
    assert text.endswith(f"): delete {tmp_path / name}, then: snakemake {tmp_path / name}")


def test_a_file_that_may_not_be_read_is_not_said_to_be_broken(tmp_path):
    with pytest.raises(PermissionError), reading(tmp_path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    path, there = tmp_path / "a.json", []
    monkeypatch.setattr(os, "fsync", lambda file: there.append((os.fstat(file).st_size, path.exists())))
    write_json(path, "abc")
    assert there == [(path.stat().st_size, False)]


@pytest.fixture
def container(tmp_path):
    arrays = {
        "toy/erm/s0/best/z": np.arange(3.0),
        "toy/erm/s0/best/logits": np.eye(2),
        "toy/erm/s0/best2/z": np.ones(1),
    }
    save_file(arrays, tmp_path / "outputs.safetensors")
    return Container(tmp_path / "outputs.safetensors")


def test_a_container_gives_the_array_of_a_run(container):
    assert np.array_equal(container["toy/erm/s0/best/z"], [0, 1, 2])


def test_a_container_gives_all_arrays_under_a_prefix(container):
    found = container.load_arrays("toy/erm/s0/best")
    assert sorted(found) == ["logits", "z"]
    assert np.array_equal(found["logits"], np.eye(2))
    assert container.load_arrays("toy/erm/s1") == {}


@pytest.mark.parametrize("read", [Container, lambda path: load_dataset(path.parent, "tiny")])
def test_what_is_read_before_it_is_made_is_an_error_that_says_how_to_make_it(tmp_path, read):
    with pytest.raises(InputError, match=rf"make it with snakemake {tmp_path}/(arrays\.safetensors|table\.parquet)"):
        read(tmp_path / "arrays.safetensors")


def test_a_run_that_a_container_does_not_hold_is_an_error_that_names_both(container):
    with pytest.raises(InputError) as error:
        container["toy/erm/s1/best/z"]
    assert str(container.path) in str(error.value)
    assert "toy/erm/s1/best/z" in str(error.value)


def test_inputs_are_written_as_numpy_writes_them(tmp_path, monkeypatch):
    monkeypatch.setattr("despur.storage.store.ROWS", 2)
    points = {"toy": made_up(5), "toy+draw=1": made_up(4, seed=1)}
    save_dataset(tmp_path, points)
    np.save(tmp_path / "expected.npy", np.concatenate([point.inputs for point in points.values()]))
    assert (tmp_path / "inputs.npy").read_bytes() == (tmp_path / "expected.npy").read_bytes()


def test_class_attribute_groups_are_disjoint_also_where_groups_are_not():
    images = made_up(6)
    dataset = Dataset(images.inputs, images.table, {**images.about, "groups": ["all"]}, np.ones((6, 1), bool))
    assert (
        dataset.class_attribute_groups.argmax(axis=1).tolist() == (3 * images.table["y"] + images.table["a"]).tolist()
    )
    assert (dataset.class_attribute_groups.sum(axis=1) == 1).all()
