"""SSA: the attribute that it finds, and which pseudo-labeled samples join."""

import numpy as np
from helpers import evidence, spec
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from despur.inference import ssa
from despur.inference.base import LabeledSamples
from despur.specs.declarations import read_declarations

RNG = np.random.default_rng


def test_ssa_declares_that_it_reads_validation_groups():
    assert read_declarations("inference", "ssa")[
        "READS_VALIDATION_GROUPS"
    ] and "READS_TRUE_GROUPS" not in read_declarations("inference", "ssa")


def spurious(count, seed, share=0.95):
    rng = RNG(seed)
    y = rng.integers(0, 2, count)
    a = np.where(rng.random(count) < share, y, 1 - y)
    z = rng.normal(size=(count, 6)).astype(np.float32)
    z[:, 0] += 3 * a
    z[:, 1] += y
    return LabeledSamples(z, y, a)


def test_ssa_finds_the_attribute_of_training_samples():
    train_data, known = spurious(900, 0), spurious(150, 1, share=0.6)
    asked = evidence(train_data.y, z=train_data.z, num_attributes=2, validation=known)
    found = ssa.infer(asked, spec("gdro+groups=ssa").components["groups"].settings)
    minority = train_data.a != train_data.y
    assert (found == train_data.a).mean() > 0.9 and (found == train_data.a)[minority].mean() > 0.8


def slow_ssa(of, confidence, folds, rounds, strength):
    """Pseudo-labels by scikit-learn, one fold, round and group after the other."""
    known, scaler, classes = of.validation, StandardScaler().fit(of.validation.z), np.eye(of.num_classes)
    first, x = (np.hstack([scaler.transform(part.z), classes[part.y]]) for part in (known, of))
    pair = list(zip(known.y, known.a, strict=True))
    fold, found = of.rng.permutation(len(x)) % folds, np.zeros(len(x), int)
    for k in range(folds):
        rows, said = np.empty(0, int), np.empty(0, int)
        for _ in range(rounds):
            model = LogisticRegression(C=strength, max_iter=1000)
            model.fit(np.vstack([first, x[rows]]), np.append(known.a, said[rows]))
            chance = model.predict_proba(x)
            said, sure = model.classes_[chance.argmax(axis=1)], chance.max(axis=1)
            members = {
                cell: [i for i in np.flatnonzero((fold != k) & (sure >= confidence)) if (of.y[i], said[i]) == cell]
                for cell in np.ndindex(of.num_classes, of.num_attributes)
            }
            smallest = min(pair.count(cell) + len(members[cell]) for cell in set(pair))
            rows = [
                sorted(those, key=lambda i: -sure[i])[: max(smallest - pair.count(cell), 0)]
                for cell, those in members.items()
            ]
            rows = np.concatenate(rows).astype(int)
        found[fold == k] = said[fold == k]
    return found


def test_ssa_is_its_rounds_one_after_the_other():
    """One of three attributes and one pair of class and attribute are in no validation sample."""
    data, known = spurious(400, 2, share=0.8), spurious(60, 3, share=0.7)
    kept = (known.y == 0) | (known.a == 1)
    known = LabeledSamples(5 * known.z[kept] + 1, known.y[kept], 2 * known.a[kept])
    settings = {"confidence": 0.8, "folds": 3, "rounds": 3, "strength": 0.1}
    ours, theirs = (evidence(data.y, z=5 * data.z + 2, num_attributes=3, validation=known) for _ in range(2))
    np.testing.assert_array_equal(ssa.infer(ours, settings), slow_ssa(theirs, **settings))


def test_no_group_spreads_beyond_the_smallest():
    group = np.repeat([0, 1, 2, 3], [50, 6, 4, 30])
    confidence = RNG(0).uniform(0.9, 1, 90)
    labeled = np.array([10, 3, 8, 10])
    joins = ssa.select_confident(group, confidence, labeled, 0.95)
    sizes = labeled + np.bincount(group[joins], minlength=4)
    smallest = 3 + ((group == 1) & (confidence >= 0.95)).sum()
    assert sizes[1] == smallest and sizes.max() <= max(smallest, labeled.max())
    assert (confidence[joins] >= 0.95).all()
    for g in range(4):
        inside = group == g
        if joins[inside].any() and not joins[inside].all():
            assert confidence[inside & joins].min() >= confidence[inside & ~joins & (confidence >= 0.95)].max(initial=0)
