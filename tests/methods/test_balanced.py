"""Methods that treat small groups otherwise than large ones: resampling, subsets, reweighting, margins, focal loss."""

import math

import numpy as np
import pytest
import torch
from helpers import build, embedded, walk
from sklearn.utils.class_weight import compute_class_weight

from despur.methods.cb_loss import weigh_groups
from despur.specs.resolution import resolve

RNG = np.random.default_rng
Y = np.repeat([0, 1], [90, 30])
A = np.concatenate([np.repeat([0, 1], [80, 10]), np.repeat([0, 1], [5, 25])])
GROUP = 2 * Y + A  # 80, 10, 5, 25


def linear(name, y=Y, a=A):
    """A method with a linear head on embeddings, and its logits of all samples."""
    reads_groups = "groups" in resolve("methods", name).points[0].components
    method = build(f"{name}+encoder=identity", embedded(y, a if reads_groups else None))
    with torch.no_grad():
        return method, method.forward(np.arange(len(y)), RNG(0))


def test_resampling_draws_groups_equally_often():
    method, _ = linear("resample+batch_size=16")
    rows = np.concatenate([batch for _, batch in walk(method, 60)])
    assert len(rows) == 60 * 120
    np.testing.assert_allclose(np.bincount(GROUP[rows]) / len(rows), 1 / 4, atol=0.02)


@pytest.mark.parametrize(("name", "part", "size"), [("subg", GROUP, 5), ("suby", Y, 30)])
def test_a_subset_has_equal_parts_and_is_drawn_once(name, part, size):
    method, _ = linear(f"{name}+batch_size=8")
    shown = []
    for epoch in range(3):
        method.epochs_done = epoch
        shown.append(np.concatenate(list(method.epoch_batches(RNG(epoch)))))
    assert np.bincount(part[shown[0]]).tolist() == [size] * (part.max() + 1)
    assert len(set(shown[0])) == len(shown[0]) == method.metadata()["samples_in_subset"]
    assert all(sorted(rows) == sorted(shown[0]) and list(rows) != list(shown[0]) for rows in shown[1:])
    other, _ = linear(f"{name}+batch_size=8")
    other.load(method.state())
    other.epochs_done = 3
    assert sorted(np.concatenate(list(other.epoch_batches(RNG(9))))) == sorted(shown[0])


def test_weights_are_inverse_to_effective_numbers_and_one_in_the_mean():
    sizes, beta = np.array([80, 10, 5, 25]), 0.99
    effective = np.array([sum(beta**k for k in range(n)) for n in sizes])  # Cui et al., Eq. 2, as a sum
    for weighting, expected in (("effective", 1 / effective), ("inverse", 1 / sizes), ("square_root", sizes**-0.5)):
        found = weigh_groups(sizes, weighting, beta)
        np.testing.assert_allclose(found, expected / expected.mean())
    np.testing.assert_allclose(weigh_groups(sizes, "effective", 1e-12), 1)  # as ERM
    np.testing.assert_allclose(
        weigh_groups(sizes, "effective", 1 - 1e-9), weigh_groups(sizes, "inverse", 0.9), rtol=1e-5
    )


@pytest.mark.parametrize(("name", "part"), [("reweight", GROUP), ("cb_loss+weighting=inverse", Y)])
def test_inverse_weights_are_those_that_scikit_learn_calls_balanced(name, part):
    """Up to one factor: the weights there have the mean 1 over samples."""
    method, logits = linear(name)
    balanced = compute_class_weight("balanced", classes=np.unique(part), y=part)
    expected = torch.from_numpy((balanced / balanced.mean())[part]).float()
    each = torch.nn.functional.cross_entropy(logits, torch.from_numpy(Y), reduction="none")
    loss = method.losses(np.arange(120), RNG(0))["loss"].item()
    assert loss == pytest.approx((expected * each).mean().item(), rel=1e-5)
    assert not math.isclose(loss, each.mean().item(), rel_tol=1e-3)
