"""The one training loop: evaluation, selection, early stopping, checkpoints, resume, progress.

All randomness of a step is derived from (run, seed, step), so a resumed run draws what an uninterrupted one draws.
"""

import copy
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from despur.compute import compiling, distributed
from despur.compute.machine import Machine
from despur.compute.randomness import generator, number, seed_torch
from despur.methods.base import Method
from despur.storage.store import atomic

State = dict[str, torch.Tensor]


class TrainingError(RuntimeError):
    """A loss that is not a number; the message names the steps and the settings."""


@dataclass
class Progress:
    """Where a run is, and what it has seen: all that a checkpoint holds besides the method's state."""

    epoch: int = 0
    step: int = 0
    step_in_epoch: int = 0
    images: int = 0
    seconds: float = 0.0
    best: State = field(default_factory=dict)
    best_score: tuple[float, ...] = (-math.inf,)
    best_step: int = 0
    stale: int = 0
    finished: bool = False
    totals: State = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    arrays: State = field(default_factory=dict)
    diagnostics: dict[str, list[torch.Tensor]] = field(default_factory=dict)
    since: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    snapshots: dict[str, State] = field(default_factory=dict)


Evaluate = Callable[[Method], dict[str, float]]


class Trainer:
    """Trains one run of a method; ``evaluate`` scores it on validation data, its first value decides, the others break
    ties.

    What a step returns: scalars are averaged into the history, over the steps that return them; arrays are kept from
    each epoch's last step (diagnostics)."""

    def __init__(self, method: Method, key: str, evaluate: Evaluate, machine: Machine, checkpoint: Path) -> None:
        self.method, self.key, self.evaluate, self.machine, self.checkpoint = method, key, evaluate, machine, checkpoint
        self.progress = Progress()
        self.compiled = compiling.compile_steps(method, machine.compile, key)
        self.resume()

    def run(self) -> Progress:
        """Train to the end (or go on from the checkpoint); the method is left as it was at the last step."""
        settings, p = self.method.settings, self.progress
        started = self.started = self.clock = self.saved = time.perf_counter()
        self.start, self.counted = math.inf, p.images
        before = p.seconds
        while p.epoch < settings["epochs"] and not p.finished:
            self.run_epoch(settings, lambda: before + time.perf_counter() - started)
        p.finished, p.seconds = True, before + time.perf_counter() - started
        self.save()
        return p

    def run_epoch(self, settings: Any, elapsed: Callable[[], float]) -> None:
        p = self.progress
        self.method.epochs_done = p.epoch
        batches = list(self.method.epoch_batches(generator(self.key, p.epoch)))
        self.share = 1 / max(1, len(batches))
        self.start = min(self.start, p.epoch + p.step_in_epoch * self.share)
        for batch in batches[p.step_in_epoch :]:  # after an interruption: what was not done
            self.step(batch)
            if settings["evaluate_every"] and p.step % settings["evaluate_every"] == 0:
                self.look()
            if p.finished:
                return
            if time.perf_counter() - self.saved > self.machine.checkpoint_seconds:
                self.means()  # a run that has diverged is not kept
                p.seconds = elapsed()
                self.save()
        p.epoch, p.step_in_epoch = p.epoch + 1, 0
        if not batches:
            raise TrainingError(f"{self.key}: an epoch without a batch; settings {dict(settings)}")
        for name, value in p.arrays.items():
            p.diagnostics.setdefault(name, []).append(value)
        if p.since:
            self.look()
        if settings["snapshots"] and p.epoch % settings["snapshots"] == 0:
            p.snapshots[f"epoch={p.epoch}"] = copy.deepcopy(self.method.networks.state_dict())

    def step(self, batch: Any) -> None:
        """One optimiser step with its own randomness."""
        p = self.progress
        seed_torch(number(self.key, p.epoch, p.step_in_epoch))
        self.method.steps_done = p.step
        self.method.set_learning_rate(p.epoch + p.step_in_epoch * self.share)
        with self.machine.autocast, compiling.step(self.compiled):
            parallel = (distributed.rank(),) if distributed.processes() > 1 else ()
            losses = self.method.step(
                distributed.shard(batch), generator(self.key, p.epoch, p.step_in_epoch, *parallel)
            )
        p.step, p.step_in_epoch, p.since = p.step + 1, p.step_in_epoch + 1, p.since + 1
        p.images += self.method.presentations(batch)
        for name, value in losses.items():
            if value.ndim:
                p.arrays[name] = value.detach()
            else:
                p.totals[name] = (
                    p.totals.get(name, 0.0) + value.detach().double()
                )  # on the device: nobody waits for a step's value
                p.counts[name] = p.counts.get(name, 0) + 1

    def means(self) -> dict[str, float]:
        """Mean losses since the last look. Raises TrainingError where that of "loss" is no number."""
        p = self.progress
        found = {name: float(total) / p.counts[name] for name, total in p.totals.items()}
        if not math.isfinite(found.get("loss", 0.0)):
            steps = f"mean loss is {found['loss']} over steps {p.step - p.since + 1} to {p.step}"
            raise TrainingError(f"{self.key}: {steps}; settings {dict(self.method.settings)}")
        return found

    def look(self) -> None:
        """Evaluate on validation data; keep the state if it is the best so far; stop when patience is over.

        Where there is nothing to score (no labels), the latest state is the best.
        """
        p = self.progress
        means = self.means()
        self.method.before_eval(generator(self.key, p.epoch, p.step_in_epoch, 0))
        scores = self.evaluate(self.method)
        for name, value in {**means, **scores}.items():
            p.history.append({"epoch": p.epoch, "step": p.step, "name": name, "value": value})
        p.totals, p.counts, p.since = {}, {}, 0
        self.report(means["loss"], scores)
        score = tuple(scores.values()) or (float(p.step),)
        if scores:
            self.method.on_validation_end(score[0])
        better = score > p.best_score
        p.stale = 0 if better else p.stale + 1
        p.finished = 0 < self.method.settings["patience"] <= p.stale
        if better:
            p.best_score, p.best_step = score, p.step
            p.best = copy.deepcopy(self.method.networks.state_dict())

    def report(self, loss: float, scores: dict[str, float]) -> None:
        """A line of progress: on a terminal one, written anew at most every five seconds; in a log, one a minute at
        most."""
        p, now = self.progress, time.perf_counter()
        every, begin, end = (5, "\x1b[K", "\r") if sys.stderr.isatty() else (60, "", "\n")
        if now - self.clock < every:
            return
        speed, self.clock, self.counted = (p.images - self.counted) / (now - self.clock), now, p.images
        epochs, done = self.method.settings["epochs"], p.epoch + p.step_in_epoch * self.share
        left = (now - self.started) / max(done - self.start, 1e-9) * (epochs - done)
        named = " ".join(f"{name} {value:.3f}" for name, value in scores.items())
        print(
            f"{begin}{self.key}: epoch {done:.1f}/{epochs} step {p.step} loss {loss:.4f} {named} {speed:,.0f} "
            "images/s, "
            f"at most {left / 60:.1f} min left",
            end=end,
            file=sys.stderr,
            flush=True,
        )

    def save(self) -> None:
        """Write the checkpoint atomically; of several processes, which all have the same state, the first does."""
        if distributed.rank() == 0:
            with atomic(self.checkpoint) as temporary:
                torch.save({"method": self.method.state(), "progress": vars(self.progress)}, temporary)
        self.saved = time.perf_counter()

    def resume(self) -> None:
        """Go on from the checkpoint where there is one."""
        if self.checkpoint.exists():
            saved = torch.load(self.checkpoint, map_location=self.machine.device, weights_only=True)
            self.method.load(saved["method"])
            self.progress = Progress(**saved["progress"])
            print(f"{self.key}: resumes at step {self.progress.step}", file=sys.stderr, flush=True)
