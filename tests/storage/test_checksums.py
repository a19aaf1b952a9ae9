"""Results whose content is not what was written."""

import re

import numpy as np
import pandas as pd
import pytest
from storage.test_store import made_up

from despur.specs.paths import locate_result
from despur.storage import checksums
from despur.storage.containers import Container, save_arrays
from despur.storage.finished_runs import read_metrics, read_resamples
from despur.storage.provenance import write_about
from despur.storage.store import InputError, load_dataset, save_dataset, write_csv


def flip(path):
    """Change one bit in the middle of a file."""
    content = bytearray(path.read_bytes())
    at = content.index(b"d 0") if path.name == "about.json" else len(content) // 2  # of "seed 0": still JSON
    content[at] ^= 1
    path.write_bytes(content)


def refused(path):
    said = f"{re.escape(str(path))} is broken .*: delete .*{path.name}, then: snakemake .*{path.name}"
    return pytest.raises(InputError, match=said)


@pytest.mark.parametrize("name", ["inputs.npy", "groups.npz", "table.parquet", "about.json"])
def test_a_data_set_with_a_changed_bit_is_refused(tmp_path, name):
    save_dataset(tmp_path / "d", {"toy": made_up(50)})
    load_dataset(tmp_path / "d", "toy")
    flip(tmp_path / "d" / name)
    with refused(tmp_path / "d" / name):
        load_dataset(tmp_path / "d", "toy")
    save_dataset(tmp_path / "d", {"toy": made_up(60)})  # made again, in the same process
    assert len(load_dataset(tmp_path / "d", "toy").y) == 60


@pytest.mark.parametrize("content", ["[]", "", "{}", "null"])
def test_a_data_set_whose_about_json_says_something_else_is_refused(tmp_path, content):
    save_dataset(tmp_path / "d", {"toy": made_up(50)})
    (tmp_path / "d/about.json").write_text(content)
    with refused(tmp_path / "d/about.json"):
        load_dataset(tmp_path / "d", "toy")


def test_inputs_that_are_too_large_to_be_read_at_once_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(checksums, "LARGEST_COMPARED", 1000)
    save_dataset(tmp_path / "d", {"toy": made_up(50)})
    flip(tmp_path / "d/inputs.npy")
    assert len(load_dataset(tmp_path / "d", "toy").y) == 50


def test_arrays_of_runs_with_a_changed_bit_are_refused(tmp_path):
    result = locate_result(f"{tmp_path}/runs/cmnist/erm/s0")
    save_arrays(result.folder / "outputs.safetensors", {"z": np.zeros(1000)})
    write_about(result, 0.0)
    assert not Container(result.folder / "outputs.safetensors")["z"].any()
    flip(result.folder / "outputs.safetensors")
    with refused(result.folder / "outputs.safetensors"):
        Container(result.folder / "outputs.safetensors")
    (result.folder / "about.json").unlink()  # which says nothing then
    assert Container(result.folder / "outputs.safetensors")["z"].any()


@pytest.fixture
def evaluated(tmp_path):
    """What an evaluation writes."""
    write_csv(tmp_path / "metrics.csv", pd.DataFrame({"group": "", "value": np.arange(500) / 500}))
    table = pd.DataFrame({"0": np.arange(500.0)})
    sums = {"values": checksums.compute_values(table), **checksums.list_checksums(tmp_path, ["metrics.csv"])}
    table.attrs = {checksums.CHECKSUMS: sums}
    table.to_parquet(tmp_path / "resamples.parquet")
    return tmp_path


def test_nan_of_any_bits_is_one_value():
    values = np.array([1.0, np.nan, 3.0])
    table, negative = pd.DataFrame({"0": values, "n": [1, 2, 3], "s": ["a", "b", "c"]}), np.copysign(values, [1, -1, 1])
    assert negative.tobytes() != values.tobytes()
    assert checksums.compute_values(table) == checksums.compute_values(table.assign(**{"0": negative}))
    assert checksums.compute_values(table) != checksums.compute_values(table.assign(**{"0": [1.0, 2.0, 3.0]}))


@pytest.mark.parametrize(("name", "read"), [("metrics.csv", read_metrics), ("resamples.parquet", read_resamples)])
def test_metrics_with_a_changed_bit_are_refused(evaluated, name, read):
    assert len(read(evaluated / name)) == 500
    flip(evaluated / name)
    with refused(evaluated / name):
        read(evaluated / name)
