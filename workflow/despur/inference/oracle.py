"""The true attribute, optionally with noise: with probability ``noise`` a value is replaced by another one (Zhang et
al. 2022, Sec. 5.3)."""

import numpy as np

from despur.inference.base import Evidence
from despur.specs.settings import Settings, float_
from despur.storage.store import Array

READS_TRUE_GROUPS = True

SETTINGS = {"noise": float_(0.0, "Sec. 5.3, Fig. 7d: p", at_least=0, at_most=1)}


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The attribute, (N,); a noisy value is drawn uniformly from the other values.

    >>> evidence = Evidence(np.array([0, 1]), 2, np.random.default_rng(0), 0)
    >>> evidence.true_attribute, evidence.num_attributes = np.array([1, 0]), 2
    >>> infer(evidence, {"noise": 0.0})
    array([1, 0])
    """
    assert evidence.true_attribute is not None
    a, k = evidence.true_attribute, evidence.num_attributes
    noisy = evidence.rng.random(len(a)) < settings["noise"]
    return np.where(noisy, (a + evidence.rng.integers(1, max(k, 2), len(a))) % k, a)
