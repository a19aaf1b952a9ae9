"""The stage-1 model's predicted class (Sec. 4 of Zhang et al. 2022; JTT)."""

from despur.inference.base import Evidence
from despur.specs.settings import Settings, component
from despur.storage.store import Array

SETTINGS = {"stage1": component("methods", "erm", "Sec. 4: a regularized ERM model")}


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The class with the largest logit, (N,).

    >>> import numpy as np
    >>> logits = np.array([[2.0, 0.0], [0.0, 1.0]])
    >>> infer(Evidence(np.array([0, 1]), 2, np.random.default_rng(0), 0, logits=logits), {})
    array([0, 1])
    """
    return evidence.logits.argmax(axis=1)
