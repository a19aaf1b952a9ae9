"""Methods that treat small groups otherwise than large ones: resampling, subsets, reweighting, margins, focal loss."""

import math

import numpy as np
import pytest
import torch
from helpers import build, embedded, walk
from scipy.special import softmax
from sklearn.utils.class_weight import compute_class_weight
from torchvision.ops import sigmoid_focal_loss

from despur.losses.cross_entropy import focal
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


@pytest.mark.parametrize(("name", "part", "size"), [("subg", GROUP, 5), ("suby", Y, 30)])
def test_a_subset_has_equal_parts_and_is_drawn_once(name, part, size):
    method, _ = linear(f"{name}+batch_size=8")
    shown = []
    for epoch in range(3):
        method.epochs_done = epoch
        order = np.concatenate(list(method.epoch_batches(RNG(epoch))))
        assert len(order) == 120  # as many as all samples; the same ones again and again
        rounds = np.split(order, range(len(set(order)), 120, len(set(order))))
        assert all(len(set(part)) == len(part) and set(part) <= set(rounds[0]) for part in rounds)
        shown.append(rounds[0])
    assert np.bincount(part[shown[0]]).tolist() == [size] * (part.max() + 1)
    assert len(set(shown[0])) == len(shown[0]) == method.metadata()["samples_in_subset"]
    assert all(sorted(rows) == sorted(shown[0]) and list(rows) != list(shown[0]) for rows in shown[1:])
    other, _ = linear(f"{name}+batch_size=8")
    other.load(method.state())
    other.epochs_done = 3
    assert set(np.concatenate(list(other.epoch_batches(RNG(9))))) == set(shown[0])


def test_the_last_round_of_a_subset_is_cut_to_an_epoch():
    method, _ = linear("suby+batch_size=3", np.repeat([0, 1], [5, 2]), None)
    assert [len(rows) for rows in method.epoch_batches(RNG(0))] == [3, 3, 1]


def test_weights_are_inverse_to_effective_numbers_and_one_in_the_mean():
    sizes, beta = np.array([80, 10, 5, 25]), 0.99
    effective = np.array([sum(beta**k for k in range(n)) for n in sizes])  # of samples, as a sum
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


def test_the_class_balanced_loss_has_the_beta_asked_for():
    method, logits = linear("cb_loss+beta=0.9")
    each = torch.nn.functional.cross_entropy(logits, torch.from_numpy(Y), reduction="none")
    expected = (weigh_groups(np.bincount(Y), "effective", 0.9)[Y] * each.numpy()).mean()
    assert method.losses(np.arange(120), RNG(0))["loss"].item() == pytest.approx(expected, rel=1e-5)


def test_of_two_classes_the_focal_loss_is_torchvisions():
    for gamma in (0.0, 1.0, 2.0):
        method, logits = linear(f"focal+gamma={gamma}")
        expected = sigmoid_focal_loss(logits[:, 1] - logits[:, 0], torch.from_numpy(Y).float(), -1, gamma, "mean")
        assert method.losses(np.arange(120), RNG(0))["loss"].item() == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("gamma", [0.5, 0.9, 2.0])
def test_the_focal_loss_of_a_sample_without_doubt_has_a_slope(gamma):
    method, _ = linear(f"focal+gamma={gamma}")
    logits = torch.tensor([[16.8, 0.0], [40.0, 0.0]], requires_grad=True)  # a cross-entropy of 0 in single precision
    method.forward = lambda batch, rng: logits
    method.losses(np.arange(2), RNG(0))["loss"].backward()
    assert torch.isfinite(logits.grad).all() and logits.grad.abs().max() < 1e-3


def test_the_focal_loss_of_a_sample_of_little_doubt_is_its_formula():
    doubt = 1 / (1 + math.exp(12))
    found = focal(torch.tensor([[0.0, 12.0]], dtype=torch.float64), torch.tensor([1]), gamma=0.5)
    assert found.item() == pytest.approx(-(doubt**0.5) * math.log1p(-doubt), rel=1e-9)


def test_the_balanced_softmax_is_bayes_rule_with_the_sizes_of_classes():
    method, logits = linear("balanced_softmax")
    likelihood = softmax(logits.numpy().astype(float), axis=1)  # of equally frequent classes
    posterior = likelihood * [90, 30]
    expected = -np.log((posterior / posterior.sum(axis=1, keepdims=True))[np.arange(120), Y])
    rows = np.arange(0, 120, 3)
    assert method.losses(rows, RNG(0))["loss"].item() == pytest.approx(expected[rows].mean(), rel=1e-5)


def test_margins_are_largest_for_the_smallest_class_and_fall_with_the_fourth_root():
    method, logits = linear("ldam+largest_margin=0.3+scale=7")
    z = logits.numpy().astype(float)
    margin = {0: 0.3 * (30 / 90) ** 0.25, 1: 0.3}
    terms = [np.log1p(np.exp(7 * (z[i, 1 - y] - (z[i, y] - margin[y])))) for i, y in enumerate(Y)]
    assert method.losses(np.arange(120), RNG(0))["loss"].item() == pytest.approx(np.mean(terms), rel=1e-5)
    plain, _ = linear("ldam+largest_margin=0+scale=1")
    each = torch.nn.functional.cross_entropy(logits, torch.from_numpy(Y))
    assert plain.losses(np.arange(120), RNG(0))["loss"].item() == pytest.approx(each.item(), rel=1e-5)


@pytest.mark.parametrize("balance", ["sampling", "weighting", "none"])
def test_a_retrained_classifier_counts_groups_alike_in_batches_or_in_the_loss(balance):
    of = embedded(Y, A)
    method = build(f"crt+balance={balance}+batch_size=16", of)
    assert list(method.networks["encoder"].parameters()) == [] and method.networks["head"].weight.shape == (2, 12)
    rows = np.concatenate([batch for _, batch in walk(method, 60)])
    shares = np.bincount(GROUP[rows]) / len(rows)
    np.testing.assert_allclose(shares, 1 / 4 if balance == "sampling" else np.bincount(GROUP) / 120, atol=0.02)
    each = torch.nn.functional.cross_entropy(method.forward(np.arange(120), RNG(0)), of.labels.values, reduction="none")
    weights = 1 / np.bincount(GROUP) if balance == "weighting" else np.ones(4)
    expected = (torch.from_numpy(weights / weights.mean())[GROUP] * each.detach()).mean()
    assert method.losses(np.arange(120), RNG(0))["loss"].item() == pytest.approx(expected.item(), rel=1e-5)
