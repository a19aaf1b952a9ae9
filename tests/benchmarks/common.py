"""What the benchmarks share."""

import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
Row = tuple[str, float, str, str, str]  # name, value, unit, goal, note


def random_dataset(rng: Any, kind: Any, train: int = 48_000, held_out: int = 12_000, correlated: float = 0.995) -> Any:
    """Random images in the shape of CMNIST*; the attribute follows the class in this share of them."""
    import numpy as np
    import pandas as pd

    count = train + held_out
    y = rng.integers(0, 5, count)
    a = np.where(rng.random(count) < correlated, y, (y + rng.integers(1, 5, count)) % 5)
    about = {"classes": list("abcde"), "attributes": list("vwxyz"), "size": 32, "select": "val", "test_crop": "centre"}
    inputs = rng.integers(0, 256, (count, 40, 40, 3), dtype=np.uint8)
    return kind(inputs, pd.DataFrame({"split": np.repeat(["train", "val"], [train, held_out]), "y": y, "a": a}), about)


def timed(work: Any) -> float:
    """Core seconds: other work on the machine counts less than in wall time, which is half of it where two threads are
    used."""
    started = time.process_time()
    work()
    return time.process_time() - started


def compare(first: Callable[[], Any], second: Callable[[], Any], rounds: int = 10) -> tuple[float, float, float]:
    """How many times as long the first takes as the second, in core time, and core seconds of each: medians of rounds
    in turns, so that other work on the machine counts for both. A cold round goes before."""
    import numpy as np

    times = np.array([(timed(first), timed(second)) for _ in range(1 + rounds)])[1:]
    return float(np.median(times[:, 0] / times[:, 1])), *map(float, np.median(times, axis=0))


def time_epochs(methods: dict[str, Any], epochs: int) -> dict[str, list[float]]:
    """Core seconds of each epoch of each method, by turns: the machine is the same for all. Each epoch is the first:
    at its start discriminators are fitted, its second half is MSR's second stage."""
    from despur.compute.randomness import derive_generator

    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for epoch in range(epochs):
        for name, method in methods.items():
            started = time.process_time()
            for i, batch in enumerate(method.epoch_batches(derive_generator("bench", epoch))):
                method.steps_done = i
                method.step(batch, derive_generator("bench", epoch, i))
            seconds[name].append(time.process_time() - started)
    return seconds


def seconds_of(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(
        command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    return time.perf_counter() - started
