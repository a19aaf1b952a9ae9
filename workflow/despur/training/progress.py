"""The state of a run in training, and its checkpoint."""

import copy
import math
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from despur.compute import distributed
from despur.methods.base import Method
from despur.storage.store import InputError, atomic

BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError)  # what zipfile raises for a part of an archive
State = dict[str, torch.Tensor]
Score = Callable[[Method], dict[str, float]]  # validation scores by name


class TrainingError(InputError):
    """Settings with which nothing can be trained; the message names the settings and, of a loss that is not finite, the
    steps."""


@dataclass
class Progress:
    """How far a run is, and its results so far: all that a checkpoint holds besides the method's state."""

    epoch: int = 0
    step: int = 0
    step_in_epoch: int = 0
    images: int = 0  # views that steps have used
    seconds: float = 0.0
    scores: dict[str, tuple[float, ...]] = field(default_factory=dict)  # the best so far, by selection
    steps: dict[str, int] = field(default_factory=dict)  # of each selection (best, average_accuracy, epoch=5)
    states: dict[int, State] = field(default_factory=dict)  # the networks at these steps
    evals_without_improvement: int = 0
    finished: bool = False
    totals: State = field(default_factory=dict)  # of each scalar loss since the last evaluation
    counts: dict[str, int] = field(default_factory=dict)  # and of how many steps
    arrays: State = field(default_factory=dict)  # of the latest step that returned them
    diagnostics: dict[str, list[torch.Tensor]] = field(default_factory=dict)  # arrays of each epoch's last step
    steps_since_eval: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def best_step(self) -> int:
        return self.steps.get("best", 0)

    def keep(self, selection: str, method: Method) -> None:
        """Keep the networks of the present step as those of a selection; drop networks that none has any more."""
        self.steps[selection] = self.step
        if self.step not in self.states:
            self.states[self.step] = copy.deepcopy(method.networks.state_dict())
        self.states = {step: state for step, state in self.states.items() if step in self.steps.values()}

    def improve(self, selection: str, score: tuple[float, ...], compared: int | None, method: Method) -> None:
        """Keep the present step as that of a selection if its score is better than the best so far; ``compared``: how
        many of its values decide (None: all)."""
        if score[:compared] > self.scores.get(selection, (-math.inf,))[:compared]:
            self.scores[selection] = score
            self.keep(selection, method)

    def add_scores(self, values: dict[str, float]) -> None:
        """Add values of the present step to the history."""
        self.history += [
            {"epoch": self.epoch, "step": self.step, "name": name, "value": value} for name, value in values.items()
        ]


def save_checkpoint(path: Path, method: Method, progress: Progress) -> None:
    """Write a checkpoint atomically. Of several processes, which all have the same state, the first does."""
    if distributed.rank() == 0:
        with atomic(path) as temporary, temporary.open("wb") as file:  # given a path, torch does not say why it fails
            torch.save({"method": method.state(), "progress": vars(progress)}, file)


def is_whole(path: Path) -> bool:
    """Whether all of a checkpoint is there, by its checksums: it is a zip archive."""
    try:
        with zipfile.ZipFile(path) as file:
            return file.testzip() is None
    except BROKEN:
        return False


def load_checkpoint(path: Path, method: Method, device: torch.device, key: str) -> Progress:
    """Load a checkpoint into a method. Without a checkpoint, or with a broken one: a new start."""
    if not path.exists():
        return Progress()
    if not is_whole(path):
        print(f"warning: {key}: {path} is broken, so training starts anew", file=sys.stderr, flush=True)
        return Progress()
    saved = torch.load(path, map_location=device, weights_only=True)
    method.load(saved["method"])
    progress = Progress(**saved["progress"])
    print(f"{key}: resumes at step {progress.step}", file=sys.stderr, flush=True)
    return progress
