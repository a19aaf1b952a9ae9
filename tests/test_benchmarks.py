"""What `make bench` measures on a GPU runs, too, where there is none: at a small size, where no number means
anything."""

import itertools
import math
import multiprocessing
import queue
import sys

import numpy as np
import pandas as pd
import pytest
import torch
from benchmarks import __main__ as command
from benchmarks import crowd, gpu
from helpers import CPU

SMALL = {"train": 400, "correlated": 0.6, "digits": 32, "objects": 8, "steps": 1, "warm": 1}
EAGER = (("tf32", "off"),)


@pytest.fixture(scope="module")
def found():
    """All rows of one way: value and note."""
    return {row[0]: (row[1], row[4]) for measure in gpu.MEASURES for row in measure(CPU, SMALL, EAGER)}


def test_every_row_is_measured(found):
    unknown = {name for name, (value, _) in found.items() if not (np.isfinite(value) and value > 0)}
    assert unknown == {name for name in found if "peak" in name}  # those of a GPU


def test_times_of_tables_are_those_of_their_runs(found):
    runs = sum(
        found[f"{name}, a step, tf32, off"][0]
        / 1000
        * int(found[f"{name}, a step, tf32, off"][1].split()[0].replace(",", ""))
        for name in gpu.COLUMN
    )
    assert found["column of Table 1, tf32, off"][0] == pytest.approx(3 * runs / 60)
    speed = found["domain_weighted_pairs, tf32, off"][0]  # one batch of 32 in each of 400 epochs
    assert found["grid of 190 x 5 runs, tf32, off"][0] == pytest.approx(950 * 400 * 32 / speed / 3600)


def test_the_share_of_a_cards_peak_is_what_its_data_sheet_says(monkeypatch):
    for name, expected in (("NVIDIA H200", (989, 494)), ("NVIDIA A100-SXM4-80GB", (312, 156))):
        monkeypatch.setattr(gpu, "device_name", lambda machine, name=name: name)
        assert (gpu.peak(CPU, "bf16"), gpu.peak(CPU, "tf32")) == expected
    monkeypatch.setattr(gpu, "device_name", lambda machine: "another card")
    assert math.isnan(gpu.peak(CPU, "bf16"))


def test_speeds_of_runs_at_once_are_added(monkeypatch):
    def work(name, device, size, ready, found):
        ready()  # returns when the other run is here, too
        found.put(0.25)

    monkeypatch.setattr(crowd, "get_context", lambda _: multiprocessing.get_context("fork"))
    monkeypatch.setattr(crowd, "work", work)
    assert crowd.together("erm", 2, CPU, SMALL) == 8


def test_a_run_waits_for_the_others_once_and_says_how_long_a_step_takes(monkeypatch):
    found, waited = queue.Queue(), []
    monkeypatch.setattr(gpu.time, "perf_counter", itertools.count(0.0, 1.5).__next__)
    crowd.work("erm", CPU, SMALL | {"steps": 3}, lambda: waited.append(found.qsize()), found)
    assert waited == [0] and found.get_nowait() == pytest.approx(0.5) and found.empty()


@pytest.mark.skipif(torch.cuda.is_available(), reason="here is a GPU")
def test_without_a_gpu_rows_have_no_value_and_say_so():
    rows = gpu.gpu() + crowd.crowd()
    assert all(math.isnan(row[1]) and row[4] == "no GPU here" for row in rows)


@pytest.fixture
def measure(monkeypatch, tmp_path):
    """The command with two measures of one row each; returns the names of the rows that it wrote."""
    rows = {name: lambda name=name: [(f"{name}: steps", 1.234, "ms", "", "")] for name in ("first", "second")}
    monkeypatch.setattr(command, "MEASURES", rows)

    def run(*names):
        monkeypatch.setattr(sys, "argv", ["benchmarks", str(tmp_path / "b.csv"), *names])
        command.main()
        return [line.split(",")[0] for line in (tmp_path / "b.csv").read_text().splitlines()[1:]]

    return run


@pytest.mark.parametrize(("names", "rows"), [([], ["first", "second"]), (["second"], ["second"])])
def test_all_is_measured_or_what_is_named(names, rows, measure):
    assert measure(*names) == [f"{name}: steps" for name in rows]


def test_earlier_measurements_are_kept(measure, tmp_path):
    measure("first"), measure()
    history = pd.read_csv(tmp_path / "b_history.csv")
    assert list(history["name"]) == ["first: steps", "first: steps", "second: steps"]
    assert history["measured"].notna().all()


def test_a_measure_that_is_not_there_is_refused_with_those_that_are(measure, capsys):
    with pytest.raises(SystemExit):
        measure("second", "third")
    assert "no measure third; there are first, second" in capsys.readouterr().err
