"""Spread spurious attribute (Nam et al. 2022, Sec. 3.2): pseudo-labels of the attribute, learned from validation data
with known attributes.

A classifier of the attribute is fitted on the labeled validation samples, which then confident training samples with
their predicted attribute join. In the smallest group (class x attribute) these are all with a confidence of at least
``confidence``; in the other groups only so many that no group becomes larger than the smallest. The training data is
divided into ``folds``: the pseudo-labels of a fold come from classifiers that are not fitted on it. Our deviation: the
classifier is linear, on stage-1 representations and the class, fitted again in each of ``rounds``; theirs is a second
network, trained on both sets at once. The same validation samples select the method's hyper-parameters."""

import numpy as np
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from despur.inference.base import Evidence
from despur.specs.settings import SettingError, Settings, component, float_, int_
from despur.storage.store import Array

READS_VALIDATION_GROUPS = True

SETTINGS = {
    "stage1": component(
        "methods", "erm", "ours: representations for the linear classifier; Nam et al. train another network"
    ),
    "confidence": float_(0.95, "Nam et al.: the threshold of the smallest group", at_least=0, at_most=1),
    "folds": int_(3, "Nam et al.: K", at_least=2),
    "rounds": int_(
        5, "ours: fits of the classifier, each with the pseudo-labels of the last; theirs: steps of SGD", at_least=1
    ),
    "strength": float_(1.0, "ours: C of the logistic regression, scikit-learn's default", above=0),
}


def select_confident(group: Array, confidence: Array, labeled: Array, threshold: float) -> Array:
    """Which pseudo-labeled samples join, bool (N,): the most confident of each group, so that no group becomes larger
    than the smallest.

    ``group``, ``confidence``: of the pseudo-labeled samples, (N,). ``labeled``: number of labeled samples of each
    group, (G,). The smallest group has the fewest labeled and confident samples together; all confident samples of it
    join."""
    confident = confidence >= threshold
    sizes = labeled + np.bincount(group[confident], minlength=len(labeled))
    smallest = sizes[labeled > 0].min()
    joins = np.zeros(len(group), bool)
    for g in range(len(labeled)):
        rows = np.flatnonzero(confident & (group == g))
        joins[rows[np.argsort(-confidence[rows], kind="stable")][: max(smallest - labeled[g], 0)]] = True
    return joins


def predict_attributes(x: Array, a: Array, samples: Array, count: int, strength: float) -> Array:
    """Probabilities (M,count) of the attributes of ``samples`` (M,D), from a classifier fitted on ``x`` (N,D) and ``a``
    (N,)."""
    model = LogisticRegression(C=strength, max_iter=1000).fit(x, a)
    scores = model.decision_function(samples)
    logits = np.full((len(samples), count), -np.inf)
    logits[:, model.classes_] = np.stack([-scores / 2, scores / 2], axis=1) if scores.ndim == 1 else scores
    return softmax(logits, axis=1)


def label_samples(
    evidence: Evidence, validation: tuple[Array, Array], x: Array, labeled: Array, inside: Array, settings: Settings
) -> Array:
    """The most probable attribute of each training sample, (N,), after all rounds.

    ``validation``: features (M,F) and attributes (M,) of the validation samples. ``x``: features of the training
    samples, (N,F). ``labeled``: see :func:`select_confident`. ``inside``: rows of the training samples that may
    join."""
    (validation_x, validation_a), count = validation, evidence.num_attributes
    rows, a = np.empty((0, x.shape[1])), np.empty(0, int)
    for _ in range(settings["rounds"]):
        chance = predict_attributes(
            np.concatenate([validation_x, rows]), np.concatenate([validation_a, a]), x, count, settings["strength"]
        )
        best = chance.argmax(axis=1)
        group, confidence = evidence.y * count + best, chance.max(axis=1)
        joins = inside[select_confident(group[inside], confidence[inside], labeled, settings["confidence"])]
        rows, a = x[joins], best[joins]
    return best


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The most probable attribute of each training sample, (N,). Raises SettingError if all validation samples have the
    same attribute.

    >>> from despur.inference.base import LabeledSamples
    >>> z, y, a = np.array([[-2.0], [-1.9], [1.9], [2.0]] * 3), np.array([0, 1] * 6), np.array([0, 0, 1, 1] * 3)
    >>> validation = LabeledSamples(z, y, a)
    >>> evidence = Evidence(y, 2, np.random.default_rng(0), 0, z=z, num_attributes=2, validation=validation)
    >>> infer(evidence, {"confidence": 0.8, "folds": 3, "rounds": 2, "strength": 1.0})
    array([0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1])
    """
    validation, count = evidence.validation, evidence.num_attributes
    assert validation is not None
    if len(np.unique(validation.a)) < 2:
        raise SettingError("ssa needs validation data with at least two attributes")
    mean = validation.z.mean(axis=0, dtype=np.float64)
    scale = np.maximum(validation.z.std(axis=0, dtype=np.float64), 1e-6)
    one_hot = np.eye(evidence.num_classes)
    first = np.column_stack([(validation.z - mean) / scale, one_hot[validation.y]])
    x = np.column_stack([(evidence.z - mean) / scale, one_hot[evidence.y]])
    labeled = np.bincount(validation.y * count + validation.a, minlength=evidence.num_classes * count)
    fold, attribute = evidence.rng.permutation(len(x)) % settings["folds"], np.empty(len(x), int)
    for k in range(settings["folds"]):
        predicted = label_samples(evidence, (first, validation.a), x, labeled, np.flatnonzero(fold != k), settings)
        attribute[fold == k] = predicted[fold == k]
    return attribute
