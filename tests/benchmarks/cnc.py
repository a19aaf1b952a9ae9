"""Correct-N-Contrast: its second stage at the published shape (M = N = 32, 32 contrastive batches a step, LeNet, 48,000
training images, p_corr .995)."""

from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

from benchmarks.common import Row, random_dataset, timed


def build_cnc(device: Any = None) -> tuple[Any, Any]:
    """The method and its data, on random images; on a CPU unless another ``device`` is given; one thread, memory as in
    a run."""
    import numpy as np
    import torch

    from despur.compute.input_batcher import present
    from despur.compute.machine import keep_freed_memory
    from despur.compute.task import Task
    from despur.methods.cnc import CNC
    from despur.specs.resolution import resolve
    from despur.storage.store import Dataset

    torch.set_num_threads(1)
    keep_freed_memory()
    dataset, device = random_dataset(np.random.default_rng(0), Dataset), device or torch.device("cpu")
    rows = dataset.rows("train")
    attribute = dataset.table["a"].to_numpy()[rows]
    task = Task(present(dataset, rows, "image", device), dataset.y[rows], 5, device, attribute)
    return CNC(task, resolve("methods", "cnc").points[0]), dataset


def measure_presentations(precision: str) -> tuple[float, float]:
    """Image presentations per second, in core time: of ten steps the median, and its share of an evaluation on 12,000
    images every 300 steps; and peak memory in MB."""
    import numpy as np
    import torch

    from despur.compute.machine import Machine
    from despur.compute.randomness import derive_generator
    from despur.storage.provenance import peak_memory_mb
    from despur.training.validation import Evaluator

    (method, dataset), machine = build_cnc(), Machine(torch.device("cpu"), precision)
    batch = method.batches(np.random.default_rng(0))[0]

    def step() -> None:
        with machine.autocast:
            method.step(batch, derive_generator("bench"))

    training = median([timed(step) for _ in range(11)][1:])
    evaluate = Evaluator(dataset, Machine(torch.device("cpu")), "bench")
    return method.count_images(batch) / (training + timed(lambda: evaluate(method)) / 300), peak_memory_mb()


def cnc() -> list[Row]:
    """Two seeds side by side, one thread each: what a 2-core machine does."""
    rows: list[Row] = []
    for precision in ("fp32", "bf16"):
        with ProcessPoolExecutor(2) as pool:
            (first, memory), (second, _) = pool.map(measure_presentations, [precision, precision])
        shape = f"M=N=32, 32 batches a step, LeNet, 2 processes of 1 thread, {precision}"
        rows.append(("cnc presentations", first + second, "images/core s", ">= 24000", shape))
        rows.append(("cnc peak memory", memory, "MB", "< 1500", f"a process, {precision}"))
    return rows
