"""SSA: the attribute that it finds, and which pseudo-labeled samples join."""

import numpy as np
from helpers import evidence, spec

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
