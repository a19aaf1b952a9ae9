"""Spread spurious attribute (Nam et al. 2022, Sec. 3.2): pseudo-labels of the attribute, learned from validation data
that has it.

Training samples join the labelled ones, with the attribute that a classifier predicts, where it is confident: by more
than ``confidence`` in the smallest group (class x attribute), and in each other group by as much as leaves that group
no larger. In ``folds``: each part of the training data is labelled by classifiers that never learned from it. Our
deviation: the classifier is linear, on the representations of a stage-1 model and the class, fitted anew in each of
``rounds``; theirs is a second network of the same kind, trained on both sets at once."""

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from despur.inference.base import Evidence
from despur.specs.settings import SettingError, Settings, component, float_, int_
from despur.storage.store import Array

READS_VALIDATION_GROUPS = True

SETTINGS = {
    "stage1": component(
        "methods", "erm", "our linear classifier needs representations; Nam et al. train a network of its own"
    ),
    "confidence": float_(0.95, "Nam et al.: the smallest group's threshold", at_least=0, at_most=1),
    "folds": int_(3, "Nam et al.: K", at_least=2),
    "rounds": int_(
        5, "fits of the classifier, each with the pseudo-labels of the one before; theirs: steps of SGD", at_least=1
    ),
    "strength": float_(1.0, "C of the logistic regression; not theirs (scikit-learn's default)", above=0),
}


def spread(group: Array, confidence: Array, labelled: Array, threshold: float) -> Array:
    """Which pseudo-labelled samples join, bool (N,): the most confident of each group, such that none grows larger
    than the smallest.

    ``group``, ``confidence`` (N,) of the pseudo-labelled; ``labelled``: number of labelled samples of each group. The
    smallest group is the one with the fewest samples, labelled and confident; there, every confident sample joins."""
    sure = confidence >= threshold
    sizes = labelled + np.bincount(group[sure], minlength=len(labelled))
    most = sizes[labelled > 0].min()
    joins = np.zeros(len(group), bool)
    for g in range(len(labelled)):
        rows = np.flatnonzero(sure & (group == g))
        joins[rows[np.argsort(-confidence[rows], kind="stable")][: max(most - labelled[g], 0)]] = True
    return joins


def probabilities(x: Array, a: Array, wanted: Array, count: int, strength: float) -> Array:
    """Of each of ``count`` attributes for each of ``wanted`` (M,D), (M,count), from a classifier fitted to x (N,D), a
    (N,)."""
    model = LogisticRegression(C=strength, max_iter=1000).fit(x, a)
    scores = model.decision_function(wanted)
    found = np.full((len(wanted), count), -np.inf)
    found[:, model.classes_] = np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores
    return softmax(found, axis=1)


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The most probable attribute of every training sample. Raises SettingError for validation data with one
    attribute."""
    known, count = evidence.validation, evidence.num_attributes
    assert known is not None
    if len(np.unique(known.a)) < 2:
        raise SettingError("ssa needs validation data with at least two attributes")
    mean, scale = known.z.mean(axis=0, dtype=np.float64), np.maximum(known.z.std(axis=0, dtype=np.float64), 1e-6)
    one_hot = np.eye(evidence.num_classes)
    first = np.column_stack([(known.z - mean) / scale, one_hot[known.y]])
    x = np.column_stack([(evidence.z - mean) / scale, one_hot[evidence.y]])
    labelled = np.bincount(known.y * count + known.a, minlength=evidence.num_classes * count)
    fold, found = evidence.rng.permutation(len(x)) % settings["folds"], np.empty(len(x), int)
    for k in range(settings["folds"]):
        inside = np.flatnonzero(fold != k)
        rows, a = np.empty((0, x.shape[1])), np.empty(0, int)
        for _ in range(settings["rounds"]):
            chance = probabilities(
                np.concatenate([first, rows]), np.concatenate([known.a, a]), x, count, settings["strength"]
            )
            best = chance.argmax(axis=1)
            joins = spread(
                (evidence.y * count + best)[inside], chance.max(axis=1)[inside], labelled, settings["confidence"]
            )
            rows, a = x[inside[joins]], best[inside[joins]]
        found[fold == k] = best[fold == k]
    return found
