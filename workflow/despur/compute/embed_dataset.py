"""Embed a whole data set once with a network that is not trained, in large batches. The result is a file on disk,
which a resumed job continues."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from despur.compute.task import InputBatcher
from despur.storage.store import Array, atomic

AT_ONCE_ON_GPU = 1024


@torch.no_grad()
def embed(encoder: nn.Module, shown: InputBatcher, path: Path, rng: np.random.Generator) -> Array:
    """Embed all samples of a batcher, in order: float16 (N,D), memory-mapped at ``path``.

    A file beside it counts the samples that are done, which a resumed job does not embed again."""
    encoder.eval()
    marker, size = (
        path.with_suffix(".done"),
        AT_ONCE_ON_GPU if (shown.device or shown.inputs.device).type == "cuda" else shown.max_batch,
    )
    done, started = int(marker.read_text()) if marker.exists() else 0, time.perf_counter()
    path.parent.mkdir(parents=True, exist_ok=True)
    z = np.load(path, mmap_mode="r+") if done else None
    first, said = done, started
    for start in range(done, len(shown), size):
        found = (
            encoder(shown.batch(np.arange(start, min(start + size, len(shown))), rng)).to(torch.float16).cpu().numpy()
        )
        if z is None:
            z = allocated(path, (len(shown), found.shape[1]))
        z[start : start + len(found)] = found
        z.flush()
        done = start + len(found)
        with atomic(marker) as temporary:
            temporary.write_text(str(done))
        said = report(done, first, len(shown), started, said)
    assert z is not None
    return z


def allocated(path: Path, shape: tuple[int, ...]) -> np.memmap[Any, Any]:
    """Make a float16 array at ``path``, memory-mapped, and reserve its disk space. Raises InputError if the disk is
    full: a later write to the map would end the process by a signal."""
    with atomic(path) as temporary:
        np.lib.format.open_memmap(temporary, "w+", np.float16, shape)
        with temporary.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size)
    return np.load(path, mmap_mode="r+")


def report(done: int, first: int, total: int, started: float, said: float) -> float:
    """Print a line of progress at most every five seconds. Returns the time of the last one."""
    now = time.perf_counter()
    if now - said < 5:
        return said
    speed = (done - first) / (now - started)
    left = (total - done) / speed / 60
    print(
        f"embedded {done:,} of {total:,}, {speed:,.0f} samples/s, about {left:.1f} min left",
        file=sys.stderr,
        flush=True,
    )
    return now
