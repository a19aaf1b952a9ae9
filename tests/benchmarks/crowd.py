"""Steps per second of small runs on one GPU, each in a process of its own: one after the other, or several at once
(``jobs_per_gpu``)."""

import math
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import Any

import torch
from benchmarks.common import Row
from benchmarks.gpu import FULL, at_work, digits, random_task

from despur.compute.machine import Machine

AT_ONCE = (1, 2, 4, 8)
RUNS = {"erm": "cmnist", "simclr": "cmnist_3v5"}  # by the data set whose settings they have: batches of 32 and of 256


def work(
    name: str, device: torch.device, size: dict[str, Any], ready: Callable[[], object], found: "Queue[float]"
) -> None:
    """One of the runs: seconds of a step, while the others take theirs."""
    torch.set_num_threads(1)
    task = digits(device, size)[1] if name == "erm" else random_task(size["digits"], 28, 2, device)
    found.put(at_work(name, RUNS[name], task, Machine(device, "tf32"), size, ready)[1])


def together(name: str, count: int, device: torch.device, size: dict[str, Any]) -> float:
    """Steps per second of so many runs at once, all of them together."""
    context = get_context("spawn")
    barrier, found = context.Barrier(count), context.Queue()
    processes = [context.Process(target=work, args=(name, device, size, barrier.wait, found)) for _ in range(count)]
    for process in processes:
        process.start()
    seconds = [found.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    return sum(1 / each for each in seconds)


def crowd() -> list[Row]:
    """On the first GPU."""
    rows = []
    for name, count in ((name, count) for name in RUNS for count in AT_ONCE):
        here = torch.cuda.is_available()
        speed = together(name, count, torch.device("cuda"), FULL) if here else math.nan
        rows.append(
            (
                f"gpu: {name}, {count} at once",
                speed,
                "steps/s",
                "",
                "all together, a process each" if here else "no GPU here",
            )
        )
    return rows
