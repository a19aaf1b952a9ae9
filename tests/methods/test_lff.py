"""Learning from Failure: generalized cross-entropy and relative difficulty."""

import numpy as np
import pytest
import torch
from helpers import build, labels, task
from lookup import Lookup, cross_entropies, log_softmax, random_case, tabled

from despur.losses import generalized_cross_entropy
from despur.methods.lff import class_maxima

RNG = np.random.default_rng


@pytest.mark.parametrize("q", [0.1, 0.7, 1.0])
def test_gce_is_its_formula(q):
    logits, y = random_case(0)
    p = np.exp(log_softmax(logits))[np.arange(len(y)), y]
    found = generalized_cross_entropy(torch.from_numpy(logits), torch.from_numpy(y), q)
    np.testing.assert_allclose(found, (1 - p**q) / q, rtol=1e-9)


def test_gce_of_a_hopeless_sample_has_a_finite_gradient():
    table = torch.tensor([[0.0, 500.0], [500.0, 0.0]], requires_grad=True)
    loss = generalized_cross_entropy(table, torch.tensor([0, 0]), 0.7)
    loss.sum().backward()
    np.testing.assert_allclose(loss.detach(), [1 / 0.7, 0], rtol=1e-6)
    assert torch.isfinite(table.grad).all()


def test_class_maxima_are_of_each_class_and_not_below_zero():
    found = class_maxima(torch.tensor([0.5, -1.0, 2.0, -1.0, 0.1]), torch.tensor([0, 1, 0, 1, 3]), 4)
    np.testing.assert_allclose(found, [2.0, 0.0, 0.0, 0.1])


def tables(biased, debiased, y, name="lff"):
    """LfF whose two networks have these logits."""
    method = tabled(name, debiased, y)
    method.networks["biased"] = Lookup(biased)
    return method


def slow_weights(y, history, memory):
    """Weights of the last of these (batch, biased logits, debiased logits), one sample after the other."""
    running = {}, {}
    for batch, *both in history:
        for which, logits in zip(running, both, strict=True):
            for i in batch:
                loss = cross_entropies(logits[i : i + 1], y[i : i + 1])[0]
                which[i] = memory * which[i] + (1 - memory) * loss if i in which else loss
    found = []
    for i in history[-1][0]:
        b, d = (which[i] / max(value for j, value in which.items() if y[j] == y[i]) for which in running)
        found.append(b / (b + d))
    return found


@pytest.mark.parametrize("memory", [0.0, 0.7])
def test_weights_are_those_of_the_slow_version(memory):
    (biased, y), (debiased, _) = random_case(3), random_case(4)
    method = tables(biased, debiased, y, f"lff+memory={memory}")
    rng, history = RNG(0), []
    for step in range(8):  # some samples are seen again and again, two never; the networks change
        history.append((rng.permutation(10)[:5], biased * (1 + 0.3 * step), debiased / (1 + step)))
        each = [
            torch.tensor(cross_entropies(logits, y)[history[-1][0]], dtype=torch.float32) for logits in history[-1][1:]
        ]
        np.testing.assert_allclose(method.weights(history[-1][0], *each), slow_weights(y, history, memory), rtol=1e-4)


def test_both_networks_minimize_their_own_loss():
    (biased, y), (debiased, _) = random_case(5), random_case(6)
    method = tables(biased, debiased, y)
    batch = np.array([1, 4, 6, 9])
    losses = method.losses(batch, RNG(0))
    weight = np.array(slow_weights(y, [(batch, biased, debiased)], 0.7))
    p = np.exp(log_softmax(biased))[np.arange(len(y)), y][batch]
    easy, hard = ((1 - p**0.7) / 0.7).mean(), (weight * cross_entropies(debiased, y)[batch]).mean()
    assert losses["biased"].item() == pytest.approx(easy, rel=1e-5)
    assert losses["debiased"].item() == pytest.approx(hard, rel=1e-5)
    assert losses["loss"].item() == pytest.approx(easy + hard, rel=1e-5)
    assert losses["mean_weight"].item() == pytest.approx(weight.mean(), rel=1e-5)
    losses["loss"].backward()
    error = np.exp(log_softmax(debiased)) - np.eye(3)[y]  # of cross-entropy; weights are taken as given
    np.testing.assert_allclose(
        method.networks["encoder"].values.grad[batch], error[batch] * weight[:, None] / 4, rtol=1e-4
    )
    error = (np.exp(log_softmax(biased)) - np.eye(3)[y])[batch]
    np.testing.assert_allclose(method.networks["biased"].values.grad[batch], error * p[:, None] ** 0.7 / 4, rtol=1e-4)


def test_the_released_gradient_of_the_biased_network_is_q_times_as_large():
    (biased, y), (debiased, _) = random_case(5), random_case(6)
    grads = []
    for name in ("lff+q=0.3", "lff+gce=released+q=0.3"):
        method = tables(biased, debiased, y, name)
        method.losses(np.arange(len(y)), RNG(0))["loss"].backward()
        grads.append([method.networks[key].values.grad for key in ("biased", "encoder")])
    torch.testing.assert_close(grads[1][0], 0.3 * grads[0][0])
    torch.testing.assert_close(grads[1][1], grads[0][1])


def test_a_perfect_biased_network_gives_no_weight_and_no_nan():
    method = tables(np.zeros((2, 2)), np.zeros((2, 2)), np.array([0, 1]))
    assert method.weights(np.arange(2), torch.zeros(2), torch.ones(2)).tolist() == [0, 0]
    assert torch.isfinite(method.weights(np.arange(2), torch.zeros(2), torch.zeros(2))).all()


def test_the_networks_start_differently_and_the_debiased_one_predicts():
    y, _ = labels({(0, 0): 8, (1, 1): 8})
    method = build("lff", task(y))
    biased, first = method.networks["biased"], method.networks["encoder"]
    assert [p.shape for p in biased[0].parameters()] == [p.shape for p in first.parameters()]
    assert all(not torch.equal(a, b) for a, b in zip(biased[0].parameters(), first.parameters(), strict=True))
    assert set(method.networks.keys()) == {"encoder", "head", "biased"}
    before = {name: value.clone() for name, value in method.networks.named_parameters()}
    method.step(np.arange(16), RNG(0))
    assert all(not torch.equal(value, before[name]) for name, value in method.networks.named_parameters())
