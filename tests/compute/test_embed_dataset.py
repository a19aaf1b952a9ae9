"""Embedding a data set into a file, so that it goes on where it was killed."""

import errno
import os

import numpy as np
import pytest
import torch

from despur.compute.embed_dataset import allocate, embed, resume
from despur.compute.input_batcher import InputBatcher
from despur.storage.store import InputError

RNG = np.random.default_rng


class Counted(torch.nn.Module):
    """Sums of rows and their numbers; counts how often it is asked, and fails at the ``fails``-th time."""

    dim, asked = 2, 0

    def __init__(self, fails=0):
        super().__init__()
        self.fails = fails

    def forward(self, rows):
        self.asked += 1
        if self.asked == self.fails:
            raise KeyboardInterrupt
        return torch.stack([rows.sum(dim=1), rows[:, 0]], dim=1)


@pytest.fixture
def shown(monkeypatch):
    monkeypatch.setattr(InputBatcher, "max_batch", 4)
    return InputBatcher(torch.arange(30, dtype=torch.float32).reshape(15, 2))


def test_embedding_goes_on_where_it_was_killed(shown, tmp_path):
    whole, killed, resumed = Counted(), Counted(fails=3), Counted()
    expected = np.array(embed(whole, shown, tmp_path / "a.npy", RNG(0)))
    with pytest.raises(KeyboardInterrupt):
        embed(killed, shown, tmp_path / "b.npy", RNG(0))
    found = embed(resumed, shown, tmp_path / "b.npy", RNG(0))
    assert (whole.asked, resumed.asked) == (4, 2) and isinstance(found, np.memmap) and found.dtype == np.float16
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(expected[:, 0], shown.inputs.sum(dim=1))
    embed(resumed, shown, tmp_path / "b.npy", RNG(0))
    assert resumed.asked == 2


def test_a_file_without_its_marker_is_begun_anew(shown, tmp_path):
    (tmp_path / "a.npy").write_bytes(b"cut off")
    assert embed(Counted(), shown, tmp_path / "a.npy", RNG(0)).shape == (15, 2)


def test_a_full_disk_is_told_before_anything_is_embedded_into_its_map(shown, tmp_path, monkeypatch):
    assert allocate(tmp_path / "a.npy", (1000, 1000)).shape == (1000, 1000)
    facts = (tmp_path / "a.npy").stat()
    assert facts.st_blocks * 512 >= facts.st_size > 2_000_000

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(InputError, match=r"b.npy cannot be written: No space left on device. Make room"):
        embed(Counted(), shown, tmp_path / "b.npy", RNG(0))
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


@pytest.mark.parametrize("broken", ["a.npy", "a.done"])
@pytest.mark.parametrize("size", [0, 1, -5])
def test_broken_embeddings_are_made_anew(tmp_path, capsys, broken, size):
    array, marker = tmp_path / "a.npy", tmp_path / "a.done"
    np.save(array, np.ones((3, 2), np.float16))
    marker.write_text("2")
    done, z = resume(array, marker)
    assert done == 2 and z.tolist() == [[1, 1]] * 3 and not capsys.readouterr().err
    (tmp_path / broken).write_bytes((tmp_path / broken).read_bytes()[:size] if broken == "a.npy" else b"\0" * size)
    assert resume(array, marker) == (0, None)
    assert capsys.readouterr().err.startswith(f"warning: {array} is broken (")
