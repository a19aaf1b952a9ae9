"""Just Train Twice (Liu et al. 2021): ERM in which the samples that stage 1 got wrong occur more often."""

from collections.abc import Iterator

import numpy as np

from despur.methods.base import GradientMethod
from despur.methods.families.predicted_classes import predict_classes
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, component, float_
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*)"),
    "groups": component("inference", "predictions", "App. E.2.5: the stage-1 model's outputs", as_class=True),
    "upsampling": choice(
        "cells",
        "App. E.2.5: as frequent as the correct points, 'by roughly 1100'",
        "cells",
        "slices",
        "constant",
    ),
    "factor": float_(
        100.0, "with upsampling=constant: how many times an incorrect sample occurs (Table A.8)", at_least=1
    ),
}


def repeats(y: Array, predicted: Array, upsampling: str, factor: float) -> Array:
    """How many times each sample occurs in an epoch, float (N,), at least 1.

    A slice is all samples of one predicted class, a cell all samples of one predicted and one true class. ``cells``:
    each wrong cell is made as frequent as the right cell of its slice. On CMNIST* (CMNIST as Zhang et al. 2022 color
    it) that is nearer the factor that their App. E.2.5 states. ``slices``, which is that section in words: all wrong
    samples of a slice together are made as frequent as its right samples. Where a slice has no right samples, nothing
    changes. ``constant``: wrong samples occur ``factor`` times."""
    wrong = predicted != y
    if upsampling == "constant":
        return np.where(wrong, factor, 1.0)
    right = np.bincount(predicted[~wrong], minlength=int(max(y.max(), predicted.max())) + 1)[predicted]
    cells = np.stack([predicted, y if upsampling == "cells" else wrong], axis=1)
    _, cell, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    return np.where(wrong, np.maximum(1.0, right / sizes[cell]), 1.0)


class JTT(GradientMethod):
    """ERM over training rows of which some occur several times."""

    def setup(self) -> None:
        self.predicted = predict_classes(self.task, self.settings["groups"])
        self.times = repeats(self.task.y, self.predicted, self.settings["upsampling"], self.settings["factor"])

    def metadata(self) -> dict[str, float]:
        return {
            "wrong_in_stage_1": int(np.count_nonzero(self.predicted != self.task.y)),
            "largest_factor": float(self.times.max()),
        }

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """Each row floor(times) or ceil(times) times, ``times`` in expectation; shuffled."""
        rows = np.repeat(np.arange(len(self.task)), (self.times + rng.random(len(self.times))).astype(int))
        rng.shuffle(rows)
        yield from self.mini_batches(rows)
