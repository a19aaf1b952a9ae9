"""DFR as the released code of Zhang & Re 2022 has it (Sec. 5.1: "trains a linear probe ... over group-balanced data"):
a linear probe on resampled embeddings, drawn anew in each epoch.

Among the samples that zero-shot classification takes for one class, all true classes get equal sizes. ``dfr_inferred``
is DFR's own logistic regression."""

from collections.abc import Iterator

import numpy as np

from despur.methods.dfr import equal_groups
from despur.methods.families.predicted_classes import predict_classes
from despur.methods.linear_probe import LinearProbe
from despur.specs.declarations import read_declarations
from despur.specs.settings import choice, component
from despur.storage.store import Array

SETTINGS = {
    **read_declarations("methods", "linear_probe")["SETTINGS"],
    "groups": component("inference", "predictions", "Sec. 5.1: zero-shot classification", as_class=True),
    "resample": choice("subsample", "Table 3: both", "subsample", "upsample"),
}


class DFRProbe(LinearProbe):
    """Cross-entropy on samples in which, within each prediction, classes are equally frequent."""

    def setup(self) -> None:
        super().setup()
        self.predicted = predict_classes(self.task, self.settings["groups"])

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        yield from self.mini_batches(equal_classes(self.task.y, self.predicted, rng, self.settings["resample"]))


def equal_classes(y: Array, predicted: Array, rng: np.random.Generator, resample: str) -> Array:
    """Shuffled rows in which, among those of one prediction, each class that occurs has the size of the smallest; with
    ``upsample`` that of the largest, some rows repeated. ``y``, ``predicted``: (N,)."""
    alike = [np.flatnonzero(predicted == value) for value in np.unique(predicted)]
    return rng.permutation(np.concatenate([rows[equal_groups(y[rows], rng, resample)] for rows in alike]))
