"""Correct-N-Contrast: its second stage."""

import time
from concurrent.futures import ProcessPoolExecutor

from benchmarks.common import Row, random_dataset


def cnc_at_published_shape(precision: str, steps: int = 40) -> tuple[float, float]:
    """Image presentations per second of CNC's stage 2 (M=N=32, 32 contrastive batches a step, LeNet, 48,000 training
    images, p_corr .995), its share of an evaluation on 12,000 images every 300 steps included; and peak memory in MB.
    One thread."""
    import numpy as np
    import torch

    from despur.compute.input_batcher import present
    from despur.compute.machine import Machine
    from despur.compute.randomness import derive_generator
    from despur.compute.task import Task
    from despur.methods.cnc import CNC
    from despur.specs.resolution import resolve
    from despur.storage.provenance import peak_memory_mb
    from despur.storage.store import Dataset
    from despur.training.validation import Evaluator

    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    dataset = random_dataset(rng, Dataset)
    rows = dataset.rows("train")
    task = Task(
        present(dataset, rows, "image", torch.device("cpu")),
        dataset.y[rows],
        5,
        torch.device("cpu"),
        dataset.table["a"].to_numpy()[rows],
    )
    method = CNC(task, resolve("methods", "cnc").points[0])
    evaluate = Evaluator(dataset, Machine(torch.device("cpu")), "bench")
    batches = list(method.epoch_batches(rng))[: steps + 3]
    for batch in batches[:3]:
        method.step(batch, rng)
    started = time.perf_counter()
    for i, batch in enumerate(batches[3:]):
        with Machine(torch.device("cpu"), precision).autocast:
            method.step(batch, derive_generator("bench", i))
    training = time.perf_counter() - started
    evaluate(method)
    evaluation = (time.perf_counter() - started - training) * steps / 300
    return steps * method.count_images(batches[-2]) / (training + evaluation), peak_memory_mb()


def cnc() -> list[Row]:
    """Two seeds side by side, one thread each: what a 2-core machine does."""
    rows: list[Row] = []
    for precision in ("fp32", "bf16"):
        with ProcessPoolExecutor(2) as pool:
            (first, memory), (second, _) = pool.map(cnc_at_published_shape, [precision, precision])
        shape = f"M=N=32, 32 batches a step, LeNet, 2 processes of 1 thread, {precision}"
        rows.append(("cnc presentations", first + second, "images/s", ">= 24000", shape))
        rows.append(("cnc peak memory", memory, "MB", "< 1500", f"a process, {precision}"))
    return rows
