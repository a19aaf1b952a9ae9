"""The inputs of an inference of pseudo-attributes, and how clusters are matched with classes."""

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix

from despur.specs.declarations import find_component
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.store import Array


@dataclass
class LabeledSamples:
    """Samples with known attribute: stage-1 representations ``z`` (N,D), classes ``y`` (N,), attributes ``a`` (N,)."""

    z: Array
    y: Array
    a: Array


@dataclass
class Evidence:
    """What an inference knows of the N samples of a split: the training samples; for an inference that declares
    READS_TRUE_GROUPS, those that have a true attribute, also of other splits that a method may train on.

    Classes ``y`` (N,) below ``num_classes``; ``rng`` and ``seed`` for what is drawn; stage-1 representations ``z``
    (N,D) and ``logits`` (N,C), if the inference has a stage 1. Only for an inference that declares READS_TRUE_GROUPS,
    ``true_attribute`` (N,) below ``num_attributes``. Only for one that declares READS_VALIDATION_GROUPS,
    ``validation``."""

    y: Array
    num_classes: int
    rng: np.random.Generator
    seed: int
    z: Array = field(default_factory=lambda: np.empty((0, 0)))
    logits: Array = field(default_factory=lambda: np.empty((0, 0)))
    true_attribute: Array | None = None
    num_attributes: int = 0
    validation: LabeledSamples | None = None


def check_inferred(inferred: Any, count: int, inference: str) -> Array:
    """What an inference gives ``count`` samples: their attribute, whole numbers from 0 on, (N,). Raises SettingError,
    naming its file, for anything else."""
    values = np.asarray(inferred)
    where = f"{find_component('inference', inference)}: infer gives"
    if values.shape != (count,):
        raise SettingError(f"{where} {values.dtype} {values.shape}, not an attribute for each sample, ({count},)")
    if values.dtype.kind not in "iub":
        raise SettingError(f"{where} {values.dtype}, not whole numbers: of probabilities, their argmax or a threshold")
    if count and not 0 <= values.min() <= values.max() <= np.iinfo(np.int16).max:
        raise SettingError(f"{where} values from {values.min()} to {values.max()}: attributes are 0, 1, 2, ...")
    return values


def match_labels(clusters: Array, y: Array, count: int) -> Array:
    """Clusters (N,) renamed to classes so that they agree best with ``y`` (N,), one to one (Hungarian algorithm; App.
    E.2.3 of Zhang et al. 2022), (N,). ``count``: of clusters and of classes.

    >>> match_labels(np.array([1, 1, 0]), np.array([0, 0, 1]), count=2)
    array([0, 0, 1])
    """
    agreement = confusion_matrix(clusters, y, labels=np.arange(count))
    rows, columns = linear_sum_assignment(-agreement)
    names = np.empty(count, int)
    names[rows] = columns
    return names[clusters]


def infer(name: str, evidence: Evidence) -> Array:
    """The inferred attribute of each sample, (N,), from ``evidence``. ``name``: of an inference, with settings if you
    like: ``eiil+steps=100``. Raises SettingError for a name or setting that does not exist.

    >>> from despur.inference import Evidence, infer
    >>> logits = np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]])
    >>> infer("predictions", Evidence(np.array([0, 1, 1]), 2, np.random.default_rng(0), 0, logits=logits))
    array([0, 1, 0])
    """
    (point,) = resolve("inference", name).points
    return import_module(f"despur.inference.{point.base_name}").infer(evidence, point.settings)
