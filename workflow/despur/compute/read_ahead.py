"""Rows of the next batches, read by a thread into pinned memory while the device computes: for data that do not fit
it."""

import ctypes
import mmap
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from despur.storage.store import Array

LIBRARY = ctypes.CDLL(None)  # the C library
DEPTH = 2  # batches that are read before they are needed: each is kept in memory


def request_rows(inputs: Tensor, rows: Tensor) -> None:
    """Let the kernel read these rows (B,) of memory-mapped inputs (N,...) at once. Else it reads them one after the
    other, each when it is copied, some pages at a time."""
    if not hasattr(LIBRARY, "madvise") or not inputs.is_contiguous():
        return
    start, size = inputs.data_ptr(), inputs.nbytes // max(1, len(inputs))
    for row in rows.tolist():
        begin = start + row * size
        page = begin - begin % mmap.PAGESIZE
        LIBRARY.madvise(ctypes.c_void_p(page), ctypes.c_size_t(begin + size - page), mmap.MADV_WILLNEED)


def read_rows(inputs: Tensor, rows: Tensor) -> Tensor:
    """Inputs (N,...) at these rows (B,), copied; into pinned memory where there is a GPU."""
    request_rows(inputs, rows)
    inputs_read = torch.empty((len(rows), *inputs.shape[1:]), dtype=inputs.dtype, pin_memory=torch.cuda.is_available())
    return torch.index_select(inputs, 0, rows, out=inputs_read)


def read_ahead(inputs: Tensor, batches: Sequence[Array], where: Tensor | None) -> Iterator[Tensor]:
    """Inputs (B,...) of each batch of rows, in their order; ``where`` (M,): the places of these rows in ``inputs``.
    What a read raises is raised where its batch is taken."""
    with ThreadPoolExecutor(1, "read-ahead") as thread:
        reads: deque[Future[Tensor]] = deque()
        try:
            for number in range(len(batches) + DEPTH):
                if number < len(batches):
                    rows = torch.from_numpy(batches[number])
                    reads.append(thread.submit(read_rows, inputs, rows if where is None else where[rows]))
                if number >= DEPTH:
                    yield reads.popleft().result()
        finally:
            thread.shutdown(wait=False, cancel_futures=True)
