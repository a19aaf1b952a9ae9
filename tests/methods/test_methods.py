"""ERM, JTT and Group DRO; learning rates and optimizers of all methods."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from helpers import build, embedded, labels, quick, task
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from despur.compute.optimizers import choose_fused
from despur.methods.jtt import repeats

RNG = np.random.default_rng


def cross_entropy(bias, label):
    """Of logits that equal ``bias`` whatever the image."""
    return math.log(sum(math.exp(b) for b in bias)) - bias[label]


def blind(method, bias):
    """Make a method's logits equal ``bias`` for every image."""
    nn.init.zeros_(method.networks["head"].weight)
    method.networks["head"].bias.data = torch.tensor(bias)
    return method


# ERM


@pytest.mark.parametrize(("count", "size"), [(20, 8), (16, 8), (5, 8)])
def test_erm_shows_each_sample_once_an_epoch(count, size):
    method = build(f"erm+batch_size={size}", task(np.arange(count) % 2))
    batches = list(method.epoch_batches(RNG(0)))
    assert sorted(np.concatenate(batches)) == list(range(count))
    assert all(len(batch) == size for batch in batches[:-1]) and 0 < len(batches[-1]) <= size
    other = np.concatenate(list(method.epoch_batches(RNG(1))))
    assert (np.concatenate(batches) != other).any()


def test_erm_minimizes_the_mean_cross_entropy():
    bias = [0.5, -1.0, 2.0]
    method = blind(build("erm", task(np.array([0, 1, 2, 2]))), bias)
    loss = method.losses(np.array([0, 1, 3]), RNG(0))["loss"]
    assert loss.item() == pytest.approx(np.mean([cross_entropy(bias, label) for label in (0, 1, 2)]), rel=1e-6)


def test_the_plateau_is_torch_s_that_takes_a_loss_for_a_score():
    """As the released code of Shen et al. 2021: while the loss falls, every third evaluation halves the rate."""
    method = build("erm+decay=plateau+decay_every=3+decay_factor=0.5", task(np.array([0, 1, 1, 0])))
    losses = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 1.00005, 1.1, 0.3, 0.2, 1.2, 0.1, 0.1, 0.1, 0.1]
    other = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=method.settings["learning_rate"])
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(other, mode="max", factor=0.5, patience=2)
    for number, loss in enumerate(losses):
        scheduler.step(loss)
        method.on_validation_end(-loss)
        method.set_learning_rate(number)
        assert method.optimizer.param_groups[0]["lr"] == pytest.approx(other.param_groups[0]["lr"])
    assert method.plateau.factor == 1 / 8


def test_sgd_steps_are_those_of_momentum_and_weight_decay():
    method = build("erm+learning_rate=0.1+momentum=0.5+weight_decay=0.01", task(np.array([0, 1, 1, 0])))
    weight, velocity = method.networks["head"].bias.detach().clone(), torch.zeros(2)
    for step in range(3):
        probe = method.losses(np.arange(4), RNG(step))["loss"]
        gradient = torch.autograd.grad(probe, method.networks["head"].bias)[0]
        velocity = 0.5 * velocity + gradient + 0.01 * weight
        weight = weight - 0.1 * velocity
        method.step(np.arange(4), RNG(step))
        torch.testing.assert_close(method.networks["head"].bias.detach(), weight)


# JTT


@st.composite
def predictions(draw):
    count, classes = draw(st.integers(1, 40)), draw(st.integers(1, 4))
    value = st.lists(st.integers(0, classes - 1), min_size=count, max_size=count)
    return np.array(draw(value)), np.array(draw(value))


@quick
@given(predictions(), st.sampled_from(["cells", "slices"]))
def test_jtt_makes_wrong_samples_as_frequent_as_right_ones(data, upsampling):
    y, predicted = data
    times = repeats(y, predicted, upsampling, 100.0)
    assert (times[predicted == y] == 1).all()
    for label in set(predicted.tolist()):
        inside, right = predicted == label, int(((predicted == label) & (y == label)).sum())
        wrong = [inside & (y == other) for other in set(y[inside].tolist()) - {label}]
        for part in wrong if upsampling == "cells" else [np.any(wrong, axis=0)] * bool(wrong):
            assert len(set(times[part])) == 1
            if part.sum() <= right:
                assert times[part].sum() == pytest.approx(right)
            else:  # no right ones to equal, or already more frequent: left alone
                assert (times[part] == 1).all()


def test_jtt_repeats_by_hand():
    y, predicted = labels({(0, 0): 12, (1, 0): 3, (2, 0): 1, (1, 1): 5, (2, 2): 4, (0, 2): 6, (1, 3): 2})
    rest = [1] * (5 + 4 + 6 + 2)  # nothing wrong; more wrong than right; nothing right
    assert repeats(y, predicted, "slices", 100.0).tolist() == [1] * 12 + [3] * 3 + [3] + rest
    assert repeats(y, predicted, "cells", 100.0).tolist() == [1] * 12 + [4] * 3 + [12] + rest


def test_jtt_constant_factor():
    y, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    assert repeats(y, predicted, "constant", 7.5).tolist() == [1, 7.5, 1, 7.5]


def test_jtt_epochs_show_each_sample_as_often_as_asked():
    y, predicted = labels({(0, 0): 10, (1, 0): 4, (1, 1): 6, (0, 1): 5})
    method = build("jtt+batch_size=8", task(y, predicted))
    expected = np.repeat([1, 2.5, 1, 1.2], [10, 4, 6, 5])
    counts = []
    for seed in range(400):
        batches = list(method.epoch_batches(RNG(seed)))
        assert all(len(batch) == 8 for batch in batches[:-1]) and 0 < len(batches[-1]) <= 8
        counts.append(np.bincount(np.concatenate(batches), minlength=len(y)))
    counts = np.array(counts)
    assert ((counts == np.floor(expected)) | (counts == np.ceil(expected))).all()
    assert np.abs(counts.mean(axis=0) - expected).max() < 5 * 0.5 / math.sqrt(400)
    order = np.concatenate(list(method.epoch_batches(RNG(0))))
    assert (np.diff(order) < 0).sum() > 5  # shuffled


def test_jtt_reports_what_stage_1_got_wrong():
    y, predicted = labels({(0, 0): 10, (1, 0): 4, (1, 1): 6})
    assert build("jtt", task(y, predicted)).metadata() == {"wrong_in_stage_1": 4, "largest_factor": 2.5}


# Group DRO

GROUPS = {(0, 0): 6, (0, 1): 3, (1, 0): 2, (1, 1): 9}
BIAS = [0.3, -0.9]
MEANS = np.array([cross_entropy(BIAS, label) for label, _ in GROUPS])  # what each group's loss is


def gdro(**settings):
    y, groups = labels(GROUPS)
    overrides = "".join(f"+{key}={value}" for key, value in sorted(settings.items()))
    return blind(build(f"gdro{overrides}", task(y, groups)), BIAS)


def test_gdro_raises_q_on_groups_with_high_loss():
    method = gdro(step_size=0.5)
    loss = method.losses(np.arange(20), RNG(0))["loss"]
    q = np.full(4, 0.25) * np.exp(0.5 * MEANS)
    q /= q.sum()
    np.testing.assert_allclose(method.networks.q, q, rtol=1e-5)
    assert loss.item() == pytest.approx((q * MEANS).sum(), rel=1e-5)
    losses = method.losses(np.arange(20), RNG(0))
    again = q * np.exp(0.5 * MEANS)
    np.testing.assert_allclose(method.networks.q, again / again.sum(), rtol=1e-5)
    assert losses["mean_loss"].item() == pytest.approx((MEANS * [6, 3, 2, 9]).sum() / 20, rel=1e-5)


def test_gdro_takes_group_means_however_many_samples_a_group_has():
    once, often = gdro(step_size=0.5), gdro(step_size=0.5)
    first = once.losses(np.array([0, 6, 9, 11]), RNG(0))["loss"].item()
    second = often.losses(np.array([0, 1, 2, 3, 6, 9, 11, 12]), RNG(0))["loss"].item()
    assert first == pytest.approx(second, rel=1e-6)
    torch.testing.assert_close(once.networks.q, often.networks.q)


def test_gdro_absent_groups_have_no_loss_and_keep_their_relative_weight():
    method = gdro(step_size=0.5)
    method.networks.q.copy_(torch.tensor([0.4, 0.3, 0.2, 0.1]))
    loss = method.losses(np.array([0, 1, 9]), RNG(0))["loss"]  # groups 0 and 2
    q = np.array([0.4, 0.3, 0.2, 0.1]) * np.exp(0.5 * MEANS * [1, 0, 1, 0])
    q /= q.sum()
    np.testing.assert_allclose(method.networks.q, q, rtol=1e-5)
    assert float(method.networks.q[1] / method.networks.q[3]) == pytest.approx(3, rel=1e-5)
    assert loss.item() == pytest.approx(q[0] * MEANS[0] + q[2] * MEANS[2], rel=1e-5)


def test_gdro_gradient_takes_q_as_given():
    method = gdro(step_size=0.5)
    method.losses(np.arange(20), RNG(0))["loss"].backward()
    softmax = np.exp(BIAS) / np.exp(BIAS).sum()
    q = method.networks.q.numpy()
    expected = (q[:2].sum() * (softmax - [1, 0])) + (q[2:].sum() * (softmax - [0, 1]))
    np.testing.assert_allclose(method.networks["head"].bias.grad, expected, rtol=1e-4)


def test_gdro_adjustment_favors_small_groups_even_if_they_are_not_in_the_batch():
    method = gdro(step_size=0.5, adjustment=2)
    loss = method.losses(np.array([0, 9, 11]), RNG(0))["loss"]  # groups 0, 2, 3
    present = np.array([1, 0, 1, 1])
    q = np.exp(0.5 * (MEANS * present + 2 / np.sqrt([6, 3, 2, 9])))
    q /= q.sum()
    np.testing.assert_allclose(method.networks.q, q, rtol=1e-5)
    assert loss.item() == pytest.approx((q * MEANS * present).sum(), rel=1e-5)  # the margin is no part of the loss


def test_gdro_groups_are_the_pairs_that_occur():
    y, groups = labels({(0, 3): 4, (1, 3): 2, (1, 7): 3})
    method = build("gdro", task(y, groups))
    np.testing.assert_allclose(method.networks.q, [1 / 3] * 3)
    assert method.counts.tolist() == [4, 2, 3]


# Learning rates and optimizers


@pytest.mark.parametrize(
    ("asked", "epoch", "share"),
    [
        ("erm", 7.5, 1.0),
        ("erm+decay=linear+epochs=10", 2.5, 0.75),
        ("erm+decay=step+decay_every=20+decay_factor=0.9", 41.0, 0.81),
    ],
)
def test_learning_rate_follows_its_decay(asked, epoch, share):
    method = build(asked, task(np.arange(10) % 5))
    method.set_learning_rate(epoch)
    assert method.optimizer.param_groups[0]["lr"] == pytest.approx(1e-3 * share)


@pytest.mark.parametrize(
    ("on_gpu", "processes", "one"),
    [((True, True), 1, True), ((True, False), 1, None), ((False, False), 1, None), ((True, True), 2, None)],
)
def test_an_optimizer_has_one_kernel_where_all_is_on_a_gpu_of_one_process(on_gpu, processes, one, monkeypatch):
    monkeypatch.setattr("despur.compute.distributed.processes", lambda: processes)
    assert choose_fused([SimpleNamespace(is_cuda=each) for each in on_gpu]) is one


@pytest.mark.parametrize(
    ("name", "batch", "kernels"),
    [
        ("head_first+encoder=mlp+head_epochs=1", 0, [True]),  # its own phase; the other's optimizer takes no step
        ("adv+discriminator_epochs=1", 0, [True]),
        ("adv", 20, [True, True]),
    ],
)
def test_the_other_optimizers_of_a_method_take_one_kernel_too(name, batch, kernels, monkeypatch):
    for module in ("compute.optimizers", f"methods.{name.split('+')[0]}"):
        monkeypatch.setattr(f"despur.{module}.choose_fused", lambda parameters: True)
    y, found = np.arange(40) % 2, []
    method = build(name, embedded(y, y))
    for kind in (torch.optim.SGD, torch.optim.Adam):
        monkeypatch.setattr(
            kind, "step", lambda self, step=kind.step: (found.append(self.defaults["fused"]), step(self))[1]
        )
    method.step(np.arange(batch), np.random.default_rng(0))
    assert found == kernels


def test_adamw_spares_biases():
    first, second = build("erm+optimizer=adamw+weight_decay=0.5", task(np.arange(10) % 5)).optimizer.param_groups
    assert (first["weight_decay"], second["weight_decay"]) == (0.5, 0.0)
    assert {p.ndim for p in second["params"]} == {1} and min(p.ndim for p in first["params"]) == 2


def test_clipped_step_is_no_longer_than_clip_times_rate():
    method = build("erm+clip=0.01+learning_rate=1+momentum=0+weight_decay=0", task(np.arange(10) % 5))
    before = [p.detach().clone() for p in method.networks.parameters()]
    method.step(np.arange(10), np.random.default_rng(0))
    length = (
        sum(float((p.detach() - b).square().sum()) for p, b in zip(method.networks.parameters(), before, strict=True))
        ** 0.5
    )
    assert length == pytest.approx(0.01, rel=1e-3)
