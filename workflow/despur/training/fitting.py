"""Runs of methods that are fitted at once, without gradients."""

import math
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from despur.compute.machine import Machine
from despur.compute.randomness import derive_generator, derive_seed, seed_torch
from despur.methods.families.fitted import FittedMethod
from despur.training.progress import Progress, Score, TrainingError, load_checkpoint, save_checkpoint


def fit_once(method: FittedMethod, key: str, score: Score, machine: Machine, checkpoint: Path) -> Progress:
    """Fit a method: one step, one epoch, one evaluation. A checkpoint of a finished fit is taken as it is."""
    progress = load_checkpoint(checkpoint, method, machine.device, key)
    if progress.finished:
        return progress
    started = time.perf_counter()
    seed_torch(derive_seed(key, 0, 0))
    with machine.autocast:
        method.fit(rng := derive_generator(key, 0, 0))
        loss = mean_loss(method, rng)
    if not math.isfinite(loss):
        raise TrainingError(f"{key}: mean loss is {loss} after the fit; settings {dict(method.settings)}")
    scores = score(method)
    progress = Progress(epoch=1, step=1, images=len(method.task), finished=True)
    progress.keep("best", method)
    progress.add_scores({"loss": loss, **scores})
    progress.seconds = time.perf_counter() - started
    save_checkpoint(checkpoint, method, progress)
    return progress


@torch.no_grad()
def mean_loss(method: FittedMethod, rng: np.random.Generator) -> float:
    """Cross-entropy of all training samples."""
    rows = np.arange(len(method.task))
    logits = method.forward(rows, rng)
    return float(nn.functional.cross_entropy(logits, method.task.labels[rows]))
