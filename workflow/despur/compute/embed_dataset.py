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

from despur.compute.chunks import apply_network
from despur.compute.input_batcher import InputBatcher
from despur.storage.store import Array, atomic

GPU_BATCH = 1024


@torch.no_grad()
def embed(encoder: nn.Module, batcher: InputBatcher, path: Path, rng: np.random.Generator) -> Array:
    """Embed all samples of a batcher, in order: float16 (N,D), memory-mapped at ``path``.

    A file beside it counts the samples that are done, which a resumed job does not embed again."""
    encoder.eval()
    on_gpu = (batcher.device or batcher.inputs.device).type == "cuda"
    size = GPU_BATCH if on_gpu else batcher.max_batch
    marker, total = path.with_suffix(".done"), len(batcher)
    first, z = resume(path, marker)
    started = reported = time.perf_counter()
    path.parent.mkdir(parents=True, exist_ok=True)
    for rows in batcher.read_ahead([np.arange(start, min(start + size, total)) for start in range(first, total, size)]):
        embeddings = apply_network(encoder, batcher.batch(rows, rng)).to(torch.float16).cpu().numpy()
        z = allocate(path, (total, embeddings.shape[1])) if z is None else z
        z[rows[0] : rows[-1] + 1] = embeddings
        z.flush()
        with atomic(marker) as temporary:
            temporary.write_text(str(rows[-1] + 1))
        reported = report(rows[-1] + 1, first, total, started, reported)
    assert z is not None
    return z


def resume(path: Path, marker: Path) -> tuple[int, np.memmap[Any, Any] | None]:
    """How many samples are done, and their array; nothing where none are, or what was saved is broken."""
    if not marker.exists():
        return 0, None
    try:
        np.load(path, mmap_mode="r")  # refuses a file that is cut off, which "r+" would fill up with zeros
        return int(marker.read_text()), np.load(path, mmap_mode="r+")
    except (ValueError, EOFError, FileNotFoundError) as error:
        print(f"warning: {path} is broken ({error}), so embedding starts anew", file=sys.stderr, flush=True)
        return 0, None


def allocate(path: Path, shape: tuple[int, ...]) -> np.memmap[Any, Any]:
    """Make a float16 array at ``path``, memory-mapped, and reserve its disk space. Raises InputError if the disk is
    full: a later write to the map would end the process by a signal."""
    with atomic(path) as temporary:
        np.lib.format.open_memmap(temporary, "w+", np.float16, shape)
        with temporary.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, temporary.stat().st_size)
    return np.load(path, mmap_mode="r+")


def report(done: int, first: int, total: int, started: float, reported: float) -> float:
    """Print a line of progress at most every five seconds. Returns the time of the last one."""
    now = time.perf_counter()
    if now - reported < 5:
        return reported
    speed = (done - first) / (now - started)
    left = (total - done) / speed / 60
    line = f"embedded {done:,} of {total:,}, {speed:,.0f} samples/s, about {left:.1f} min left"
    print(line, file=sys.stderr, flush=True)
    return now
