"""NewInference (authors and year): whether the stage-1 model is less sure than for half of the samples."""

import numpy as np

from despur.inference.base import Evidence
from despur.specs.settings import Settings, component
from despur.storage.store import Array

SETTINGS = {"stage1": component("methods", "erm", "the section of the paper that states it")}


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The inferred attribute of every training sample, int (N,), from logits (N,C).

    >>> logits = np.array([[9.0, 0.0], [5.0, 4.0]])
    >>> infer(Evidence(np.array([0, 0]), 2, np.random.default_rng(0), 0, logits=logits), {})
    array([0, 1])
    """
    largest = np.sort(evidence.logits, axis=1)
    margin = largest[:, -1] - largest[:, -2]
    return (margin < np.median(margin)).astype(np.int64)
