"""Methods of Zhang et al.'s Table 1 on data of CMNIST*'s shape: where the time of a run goes, one thread."""

from itertools import cycle
from typing import Any

from benchmarks.common import Row, timed

SECONDS = 2.0  # of steps, at least, for each method


def time_step(trainer: Any, rng: Any) -> float:
    """Core seconds of a training step."""
    count, seconds = 0, 0.0
    for batch in cycle(trainer.method.epoch_batches(rng)):
        seconds += timed(lambda batch=batch: trainer.step(batch))
        count += 1
        if seconds > SECONDS:
            break
    return seconds / count


def count_evaluations(settings: Any, steps: int) -> int:
    """How often a run is scored on the validation split."""
    every = settings["evaluate_every"]
    return settings["evaluations"] or settings["epochs"] + (steps // every if every else 0)


def cmnist() -> list[Row]:
    """At published settings, without the stage-1 model."""
    import torch
    from benchmarks.gpu import COLUMN, FULL, at_work, digits, divide, steps_of

    from despur.compute.machine import Machine, keep_freed_memory
    from despur.compute.randomness import derive_generator
    from despur.training.validation import Evaluator

    torch.set_num_threads(1)
    keep_freed_memory()
    machine = Machine(torch.device("cpu"))
    dataset, task = digits(machine.device, FULL)
    evaluate, rows = Evaluator(dataset, machine, "bench"), list[Row]()
    for name in COLUMN:
        trainer, _ = at_work(name, "cmnist", divide(task, name), machine, {"warm": 2, "steps": 2})
        steps, step = steps_of(trainer), time_step(trainer, derive_generator("bench"))
        evaluation = count_evaluations(trainer.method.settings, steps) * timed(lambda t=trainer: evaluate(t.method))
        hours = (steps * step + evaluation) / 3600
        note = f"{steps:,} steps of {1000 * step:.1f} ms; evaluations take {evaluation / hours / 3600:.0%} of the time"
        rows.append((f"cmnist: {name}, a seed", hours, "core h", "", note))
    return rows
