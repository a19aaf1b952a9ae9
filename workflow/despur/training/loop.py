"""The one training loop: evaluation, selection, early stopping, checkpoints, resume, progress.

All randomness of a step is derived from (run, seed, step), so a resumed run draws what an uninterrupted one draws.
The state that a checkpoint keeps is a :class:`Progress`, here ``p``.
"""

import math
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from despur.compute import compiling, distributed
from despur.compute.machine import Machine
from despur.compute.named_losses import require_name
from despur.compute.randomness import derive_generator, derive_seed, seed_torch
from despur.methods.base import GradientMethod, Losses
from despur.training.progress import Progress, Score, TrainingError, load_checkpoint, save_checkpoint
from despur.training.unsaved import record_values, warn_of_unsaved


class Trainer:
    """Trains one run of a method. ``score`` scores it on validation data. ``compared``: the names of the scores that
    decide which step each selection has, by default of ``best`` all. The first one decides; among equal steps the
    others do, or with the setting ``ties=first`` the first step is the best.

    Scalars that a step returns are averaged into the history, over the steps that return them. Arrays are kept from
    each epoch's last step (diagnostics)."""

    def __init__(
        self,
        method: GradientMethod,
        key: str,
        score: Score,
        machine: Machine,
        checkpoint: Path,
        compared: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.method, self.key, self.score, self.machine, self.checkpoint = method, key, score, machine, checkpoint
        self.settings = method.settings
        self.compared = compared or {"best": ()}
        self.compiled = compiling.compile_steps(method, machine.compile, key)
        self.progress = load_checkpoint(checkpoint, method, machine.device, key)
        self.epochs_per_step = 0.0  # set by each epoch
        self.started_epoch = math.inf  # set by the first epoch
        self.reported_images, self.seconds_before = self.progress.images, self.progress.seconds
        self.started = self.saved = self.reported = time.perf_counter()  # seconds on this process's clock

    def run(self) -> Progress:
        """Train to the end, or go on from the checkpoint. The method is left as it was at the last step."""
        p = self.progress
        while p.epoch < self.settings["epochs"] and not p.finished:
            self.run_epoch()
        p.finished = True
        self.save()
        return p

    def run_epoch(self) -> None:
        """The steps of an epoch that are not done yet, and the evaluation at its end."""
        p = self.progress
        self.method.epochs_done = p.epoch
        batches = list(self.method.epoch_batches(derive_generator(self.key, p.epoch)))
        if not batches:
            raise TrainingError(f"{self.key}: an epoch without a batch; settings {dict(self.settings)}")
        self.epochs_per_step = 1 / len(batches)
        self.started_epoch = min(self.started_epoch, self.epoch)
        left = batches[p.step_in_epoch :]
        for batch, _ in zip(left, self.method.read_ahead([distributed.shard(later) for later in left]), strict=True):
            self.step(batch)
            if self.is_evaluation_due(len(batches)):
                self.evaluate()
            if p.finished:
                return
            if time.perf_counter() - self.saved > self.machine.checkpoint_seconds:
                self.mean_losses()  # raises TrainingError: a run that has diverged is not saved
                self.save()
        p.epoch, p.step_in_epoch = p.epoch + 1, 0
        self.end_epoch()

    def is_evaluation_due(self, steps: int) -> bool:
        """Whether to evaluate after the present step of an epoch that has so many ``steps``: every ``evaluate_every``
        steps, or whenever another share of 1 / ``evaluations`` of the training is done."""
        p, every, count = self.progress, self.settings["evaluate_every"], self.settings["evaluations"]
        if not count:
            return every > 0 and p.step % every == 0
        done, total = p.epoch * steps + p.step_in_epoch, self.settings["epochs"] * steps
        return done * count // total > (done - 1) * count // total

    def end_epoch(self) -> None:
        """Keep diagnostics, evaluate, and keep a snapshot (the weights) every ``snapshots`` epochs."""
        p, settings = self.progress, self.settings
        for name, value in p.arrays.items():
            p.diagnostics.setdefault(name, []).append(value)
        if p.steps_since_eval and (not settings["evaluations"] or p.epoch == settings["epochs"]):
            self.evaluate()
        if settings["snapshots"] and p.epoch % settings["snapshots"] == 0:
            p.keep(f"epoch={p.epoch}", self.method)

    @property
    def epoch(self) -> float:
        """Epochs so far, with the part of the present one that is done."""
        return self.progress.epoch + self.progress.step_in_epoch * self.epochs_per_step

    def step(self, batch: Any) -> None:
        """One optimizer step with its own randomness."""
        p = self.progress
        seed_torch(derive_seed(self.key, p.epoch, p.step_in_epoch))
        self.method.steps_done = p.step
        self.method.set_learning_rate(self.epoch)
        process = (distributed.rank(),) if distributed.processes() > 1 else ()
        rng = derive_generator(self.key, p.epoch, p.step_in_epoch, *process)
        before = {} if p.step else record_values(self.method)
        with self.machine.autocast, compiling.step(self.compiled):
            losses = self.method.step(distributed.shard(batch), rng)
        if not p.step:
            warn_of_unsaved(self.method, before, self.key)
        p.step, p.step_in_epoch, p.steps_since_eval = p.step + 1, p.step_in_epoch + 1, p.steps_since_eval + 1
        p.images += self.method.count_images(batch)
        self.add_losses(losses)

    def add_losses(self, losses: Losses) -> None:
        """Add scalars up, on the device, so that no step waits for a value; keep arrays."""
        p = self.progress
        for name, value in losses.items():
            if value.ndim:
                p.arrays[name] = value.detach()
            else:
                p.totals[name] = p.totals.get(name, 0.0) + value.detach().double()
                p.counts[name] = p.counts.get(name, 0) + 1

    def mean_losses(self) -> dict[str, float]:
        """Mean losses since the last evaluation. Raises TrainingError where that of "loss" is not finite."""
        p = self.progress
        means = {name: float(total) / p.counts[name] for name, total in p.totals.items()}
        if not math.isfinite(means.get("loss", 0.0)):
            steps = f"mean loss is {means['loss']} over steps {p.step - p.steps_since_eval + 1} to {p.step}"
            remedy = "try a lower learning rate or clip=1"
            raise TrainingError(f"{self.key}: {steps}: {remedy}; settings {dict(self.settings)}")
        return means

    def evaluate(self) -> None:
        """Evaluate on validation data, and keep the networks for each selection of which they are the best so far.
        Training is finished after ``patience`` evaluations without an improvement of ``best``.

        Where nothing can be scored (no labels), the latest step is the best.
        """
        p = self.progress
        means = self.mean_losses()
        require_name(means, self.key)
        self.method.before_eval(derive_generator(self.key, p.epoch, p.step_in_epoch, 0))
        scores = self.score(self.method)
        p.add_scores({**means, **scores})
        p.totals, p.counts, p.steps_since_eval = {}, {}, 0
        self.report(means["loss"], scores)
        if scores:
            self.method.on_validation_end(next(iter(scores.values())))
        compared = 1 if self.settings["ties"] == "first" else None
        for selection, names in self.compared.items():
            score = tuple(scores[name] for name in names or scores) or (float(p.step),)
            p.improve(selection, score, compared, self.method)
            if selection not in p.steps:
                scored = f"validation scores of {selection} at step {p.step} are {score}"
                raise TrainingError(f"{self.key}: {scored}; settings {dict(self.settings)}")
        p.evals_without_improvement = 0 if p.best_step == p.step else p.evals_without_improvement + 1
        p.finished = 0 < self.settings["patience"] <= p.evals_without_improvement

    def report(self, loss: float, scores: dict[str, float]) -> None:
        """Print a line of progress: on a terminal over the last one, at most every five seconds; in a log, at most one
        a minute."""
        p, now = self.progress, time.perf_counter()
        every, begin, end = (5, "\x1b[K", "\r") if sys.stderr.isatty() else (60, "", "\n")
        if now - self.reported < every:
            return
        speed = (p.images - self.reported_images) / (now - self.reported)
        self.reported, self.reported_images = now, p.images
        epochs, done = self.settings["epochs"], self.epoch
        left = (now - self.started) / max(done - self.started_epoch, 1e-9) * (epochs - done)
        named = " ".join(f"{name} {value:.3f}" for name, value in scores.items())
        line = f"epoch {done:.1f}/{epochs} step {p.step} loss {loss:.4f} {named} {speed:,.0f} images/s"
        print(f"{begin}{self.key}: {line}, at most {left / 60:.1f} min left", end=end, file=sys.stderr, flush=True)

    def save(self) -> None:
        self.progress.seconds = self.seconds_before + time.perf_counter() - self.started
        save_checkpoint(self.checkpoint, self.method, self.progress)
        self.saved = time.perf_counter()
