"""Rows of the next batches, read by a thread into pinned memory while the device computes: for data that do not fit
it."""

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from despur.storage.store import Array

DEPTH = 2  # batches that are read before they are needed: each is kept in memory


def read_rows(inputs: Tensor, rows: Tensor) -> Tensor:
    """Inputs (N,...) at these rows (B,), copied; into pinned memory where there is a GPU."""
    found = torch.empty((len(rows), *inputs.shape[1:]), dtype=inputs.dtype, pin_memory=torch.cuda.is_available())
    return torch.index_select(inputs, 0, rows, out=found)


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
