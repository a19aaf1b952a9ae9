"""Rows that are read ahead: nothing changes but the thread that reads them."""

import ctypes
import mmap
import os
import threading
import time

import numpy as np
import pytest
import torch
from helpers import build, task

from despur.compute import read_ahead as module
from despur.compute.input_batcher import InputBatcher
from despur.compute.machine import Machine
from despur.compute.read_ahead import DEPTH, read_ahead, read_rows, request_rows
from despur.training.loop import Trainer

INPUTS = torch.arange(60).reshape(20, 3)
BATCHES = [np.array(rows) for rows in ([4, 1], [0, 3, 2], [5], [1, 1], [2, 0])]
WHERE = torch.arange(19, -1, -1)


def images():
    """A training set of images that are cut at random."""
    return task(np.arange(40) % 2, crop="image")


@pytest.fixture
def off_device(monkeypatch):
    """Inputs are treated as if they lay elsewhere than the device; the threads that read them."""
    threads, read = [], module.read_rows

    def read_noted(inputs, rows):
        threads.append(threading.current_thread().name)
        return read(inputs, rows)

    monkeypatch.setattr(InputBatcher, "is_off_device", True)
    monkeypatch.setattr(module, "read_rows", read_noted)
    return threads


@pytest.mark.parametrize("where", [None, WHERE])
@pytest.mark.parametrize("count", [0, 1, len(BATCHES)])
def test_inputs_come_in_the_order_of_batches(where, count):
    found = [*read_ahead(INPUTS, BATCHES[:count], where)]
    expected = [INPUTS[rows] if where is None else INPUTS[where[rows]] for rows in BATCHES[:count]]
    assert len(found) == count and all(map(torch.equal, found, expected))


def test_as_many_batches_as_stated_are_read_before_they_are_needed(off_device):
    reads = read_ahead(INPUTS, BATCHES, None)
    next(reads)
    reads.close()
    assert 1 <= len(off_device) <= 1 + DEPTH


def test_an_error_of_the_thread_is_raised_where_its_batch_is_asked_for():
    reads = read_ahead(INPUTS, [*BATCHES[:2], np.array([77])], None)
    next(reads), next(reads)
    with pytest.raises(IndexError):
        next(reads)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("read-ahead")]


def in_memory(images):
    """Which of these images (N,...), memory-mapped, the kernel holds in memory: (N,)."""
    pages = (ctypes.c_ubyte * -(-images.nbytes // mmap.PAGESIZE))()
    start = ctypes.c_void_p(images.data_ptr() - images.data_ptr() % mmap.PAGESIZE)
    assert ctypes.CDLL(None).mincore(start, ctypes.c_size_t(images.nbytes), pages) == 0
    return (np.array(pages) & 1).reshape(len(images), -1).all(axis=1)


@pytest.mark.skipif(not hasattr(os, "posix_fadvise"), reason="no posix_fadvise here")
def test_the_kernel_reads_all_rows_of_a_batch_at_once_and_no_others(tmp_path):
    values = np.random.default_rng(0).integers(0, 256, (16, 64 * mmap.PAGESIZE), dtype=np.uint8)
    values.tofile(tmp_path / "images")
    with (tmp_path / "images").open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    images = torch.from_numpy(np.memmap(tmp_path / "images", np.uint8, "c", shape=values.shape))
    if in_memory(images).any():
        pytest.skip("files stay in memory here")
    rows, deadline = torch.tensor([9, 2]), time.monotonic() + 10
    request_rows(images, rows)
    while in_memory(images).sum() < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert np.flatnonzero(in_memory(images)).tolist() == [2, 9]
    assert np.array_equal(read_rows(images, rows).numpy(), values[[9, 2]])


@pytest.mark.parametrize("method", ["erm", "simclr"])
def test_training_has_the_same_digits(method, off_device, tmp_path, monkeypatch):
    def train(path):
        built = build(f"{method}+batch_size=16+epochs=2", images())
        trainer = Trainer(built, "key", lambda _: {"accuracy": 0.5}, Machine(torch.device("cpu")), path)
        trainer.run()
        return built.networks.state_dict()

    ahead = train(tmp_path / "ahead.pt")
    assert off_device and {name.split("_")[0] for name in off_device} == {"read-ahead"}
    count = len(off_device)
    monkeypatch.setattr(InputBatcher, "is_off_device", False)
    plain = train(tmp_path / "plain.pt")
    assert len(off_device) == count
    assert all(torch.equal(ahead[name], plain[name]) for name in plain)


def test_other_rows_than_those_that_were_read_are_found_as_before(off_device):
    batcher = images().batcher
    plain = batcher.batch(np.arange(5), np.random.default_rng(0))
    for _ in batcher.read_ahead([np.arange(3), np.arange(7)]):
        assert torch.equal(batcher.batch(np.arange(5), np.random.default_rng(0)), plain)
    assert batcher.ready is None


def test_batches_that_are_no_rows_are_left_as_they_are(off_device):
    assert [*images().batcher.read_ahead([("anchors", "positives")])] == [("anchors", "positives")] and not off_device
