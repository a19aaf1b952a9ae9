"""Training steps on a GPU, at the published settings on random data. Without a GPU each measure has a row without a
value.

The same functions run on a CPU at a small size (tests/test_benchmarks.py), so that they are known to work; no number
is kept of that."""

import math
import time
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.common import Row, random_dataset
from torch.utils.flop_counter import FlopCounterMode

from despur.compute.compiling import MODES
from despur.compute.input_batcher import InputBatcher, present
from despur.compute.machine import Machine, device_name, set_arithmetic
from despur.compute.randomness import derive_generator
from despur.compute.task import Task
from despur.specs.resolution import resolve
from despur.storage.provenance import gpu_memory_mb
from despur.storage.store import Dataset
from despur.training.inputs import load_method_class
from despur.training.loop import Trainer
from despur.training.validation import Evaluator

Ways = tuple[tuple[str, str], ...]  # precision, and how steps are compiled

FULL = {"train": 48_000, "correlated": 0.995, "digits": 6_930, "objects": 50_000, "steps": 100, "warm": 20}
EVERY: Ways = tuple((precision, mode) for precision in ("tf32", "bf16") for mode in ("off", *MODES))
PLAIN: Ways = (("tf32", "off"), ("tf32", "reduce-overhead"))
# TFLOP/s of dense products by NVIDIA's data sheets: in bf16, and in TF32, which convolutions take.
PEAKS = {"H200": (989, 494), "H100 80GB HBM3": (989, 494), "H100 PCIe": (756, 378), "A100": (312, 156)}
# of Zhang et al.'s Table 1
COLUMN = ("erm", "cvar_dro", "lff", "george", "pgi", "cim", "eiil", "jtt", "supcon", "cnc", "gdro")
DIGITS = (
    "simclr",
    "same_domain_negatives",
    "cl_mmd",
    "cl_dann",
    "domain_weighted_negatives",
    "domain_weighted_pairs",
    "simclr+augment.color_jitter=2.5",
)


def at_work(
    name: str, data: str, task: Task, machine: Machine, size: dict[str, Any], ready: Any = bool
) -> tuple[Trainer, float]:
    """A run in the training loop, and the seconds that a step of it takes; compiling, capturing and the first steps,
    after which it is ``ready``, are not counted."""
    set_arithmetic(machine.precision)
    torch.manual_seed(0)
    point = resolve("methods", name, data).points[0]
    trainer = Trainer(
        load_method_class(point.base_name)(task, point), "bench", lambda method: {}, machine, Path("no checkpoint")
    )
    batches = cycle(trainer.method.epoch_batches(derive_generator("bench")))
    for count, begin in ((size["warm"], bool), (size["steps"], ready)):
        wait(machine)
        begin()
        started = time.perf_counter()
        for batch in islice(batches, count):
            trainer.step(batch)
        wait(machine)
    return trainer, (time.perf_counter() - started) / size["steps"]


def wait(machine: Machine) -> None:
    """Until the GPU has done what it was given."""
    if machine.device.type == "cuda":
        torch.cuda.synchronize()


def steps_of(trainer: Trainer) -> int:
    """Steps of a whole run."""
    return sum(1 for _ in trainer.method.epoch_batches(derive_generator("bench"))) * trainer.method.settings["epochs"]


def digits(device: torch.device, size: dict[str, Any]) -> tuple[Dataset, Task]:
    """CMNIST*'s shape: 48,000 images of 40x40, cropped to 32x32; a fourth as many to select on."""
    dataset = random_dataset(np.random.default_rng(0), Dataset, size["train"], size["train"] // 4, size["correlated"])
    rows = dataset.rows("train")
    groups = dataset.table["a"].to_numpy()[rows]
    return dataset, Task(present(dataset, rows, "image", device), dataset.y[rows], 5, device, groups)


def divide(task: Task, name: str) -> Task:
    """The task with the inferred groups that a method takes: EIIL and PGI take two environments."""
    if name not in ("eiil", "pgi"):
        return task
    return replace(task, inferred_attribute=(task.inferred_attribute == task.y).astype(int))


def random_task(count: int, side: int, classes: int, device: torch.device) -> Task:
    """Random images (N,side,side,3) of two domains."""
    rng = np.random.default_rng(0)
    images = torch.from_numpy(rng.integers(0, 256, (count, side, side, 3), dtype=np.uint8)).to(device)
    return Task(InputBatcher(images, side), rng.integers(0, classes, count), classes, device, rng.integers(0, 2, count))


def cnc_seed(device: torch.device, size: dict[str, Any], ways: Ways = EVERY) -> list[Row]:
    """Seconds of a seed of CNC's stage 2, with its evaluations, and peak memory."""
    (dataset, task), rows = digits(device, size), list[Row]()
    for precision, mode in ways:
        machine = Machine(device, precision, compile=mode)
        reset_peak(device)
        trainer, step = at_work("cnc", "cmnist", task, machine, size)
        evaluate = Evaluator(dataset, machine, "bench")
        evaluate(trainer.method)
        started = time.perf_counter()
        evaluate(trainer.method)
        look, steps = time.perf_counter() - started, steps_of(trainer)
        looks = steps // trainer.method.settings["evaluate_every"] + trainer.method.settings["epochs"]
        shown = trainer.method.count_images(next(iter(trainer.method.epoch_batches(derive_generator("bench")))))
        note = (
            f"{steps:,} steps of {1000 * step:.2f} ms ({shown / step:,.0f} images/s), {looks} evaluations of "
            f"{look:.2f} s"
        )
        memory = gpu_memory_mb().get("gpu_memory_mb", math.nan)
        rows += [
            (f"cnc, a seed, {precision}, {mode}", steps * step + looks * look, "s", "< 30", note),
            (f"cnc, peak memory, {precision}, {mode}", memory, "MB", "", "CMNIST*'s shape"),
        ]
        del trainer
    return rows


def column(device: torch.device, size: dict[str, Any], ways: Ways = PLAIN) -> list[Row]:
    """Minutes of the steps of CMNIST*'s column of Table 1: 11 methods, 3 seeds one after the other."""
    (_, task), rows = digits(device, size), list[Row]()
    for precision, mode in ways:
        each = {}
        for name in COLUMN:
            machine = Machine(device, precision, compile=mode)
            trainer, step = at_work(name, "cmnist", divide(task, name), machine, size)
            each[name] = steps_of(trainer) * step
            note = f"{steps_of(trainer):,} in a run"
            rows.append((f"{name}, a step, {precision}, {mode}", 1000 * step, "ms", "", note))
        note = f"steps alone; a seed of {max(each, key=lambda name: each[name])} takes most: {max(each.values()):.0f} s"
        rows.append((f"column of Table 1, {precision}, {mode}", 3 * sum(each.values()) / 60, "min", "< 15", note))
    return rows


def domains(device: torch.device, size: dict[str, Any], ways: Ways = EVERY) -> list[Row]:
    """Images per second of pre-training at Lewis et al.'s size; minutes of Table 1's 35 runs and hours of the grid's
    950."""
    task, rows = random_task(size["digits"], 28, 2, device), list[Row]()
    for precision, mode in ways:
        runs = {}
        for name in DIGITS if (precision, mode) in PLAIN else ("simclr", "domain_weighted_pairs"):
            trainer, step = at_work(name, "cmnist_3v5", task, Machine(device, precision, compile=mode), size)
            runs[name] = steps_of(trainer) * step
            shown = trainer.method.count_images(next(iter(trainer.method.epoch_batches(derive_generator("bench"))))) / 2
            note = f"batch {shown:.0f}, two views; {runs[name]:.0f} s a run of 400 epochs"
            rows.append((f"{name}, {precision}, {mode}", shown / step, "images/s", "", note))
        if len(runs) == len(DIGITS):
            note, hours = "400 epochs, steps alone, one after the other", 950 * runs["domain_weighted_pairs"] / 3600
            rows += [
                (f"Table 1 of 35 runs, {precision}, {mode}", 5 * sum(runs.values()) / 60, "min", "< 20", note),
                (f"grid of 190 x 5 runs, {precision}, {mode}", hours, "h", "", note),
            ]
    return rows


def objects(device: torch.device, size: dict[str, Any], ways: Ways = EVERY) -> list[Row]:
    """Augmented views per second of SimCLR's ResNet-18 in CIFAR-10's shape, the share of the card's peak, and peak
    memory."""
    task, rows = random_task(size["objects"], 32, 10, device), list[Row]()
    for precision, mode in ways:
        reset_peak(device)
        trainer, step = at_work("simclr", "cifar10", task, Machine(device, precision, compile=mode), size)
        batch = next(iter(trainer.method.epoch_batches(derive_generator("bench"))))
        views, way = trainer.method.count_images(batch) / step, f"{precision}, {mode}"
        note = f"batch {len(batch)}, channels_last, augmentation on the device; {steps_of(trainer) * step:,.0f} s a run"
        memory = gpu_memory_mb().get("gpu_memory_mb", math.nan)
        with torch.compiler.set_stance("force_eager"), FlopCounterMode(display=False) as counter:
            trainer.method.step(batch, derive_generator("bench"))
        rate = counter.get_total_flops() / step / 1e12
        told = f"{rate:.2f} TFLOP/s on {device_name(trainer.machine)}"
        rows += [
            (f"simclr resnet18, {way}", views, "views/s", ">= 25000", note),
            (f"simclr resnet18, peak memory, {way}", memory, "MB", "", f"batch {len(batch)}"),
            (f"simclr resnet18, share of peak, {way}", rate / peak(device, precision), "", "", told),
        ]
        del trainer
    return rows


MEASURES = (cnc_seed, column, domains, objects)


def reset_peak(device: torch.device) -> None:
    """Peak memory counts from here, without what the run before this one has captured."""
    if device.type == "cuda":
        torch.compiler.reset()
        torch.cuda.reset_peak_memory_stats(device)


def peak(device: torch.device, precision: str) -> float:
    """TFLOP/s of a card; not a number if the table has it not."""
    name = device_name(Machine(device))
    return next((both[precision == "tf32"] for card, both in PEAKS.items() if card in name), math.nan)


def measure_steps(ways: Ways) -> list[Row]:
    """Every measure in these ways, on the first GPU."""
    if not torch.cuda.is_available():
        return [(f"gpu: {measure.__name__}", math.nan, "", "", "no GPU here") for measure in MEASURES]
    rows = list[Row]()
    for measure in MEASURES:
        asked = tuple(way for way in ways if measure is not column or way in PLAIN)
        rows += [(f"gpu: {name}", *rest) for name, *rest in measure(torch.device("cuda"), FULL, asked)]
    return rows


def gpu() -> list[Row]:
    """Steps that are not compiled, as by default."""
    return measure_steps(tuple(way for way in EVERY if way[1] == "off"))


def gpu_compiled() -> list[Row]:
    """Compiled steps; compiling takes minutes."""
    return measure_steps(tuple(way for way in EVERY if way[1] != "off"))
