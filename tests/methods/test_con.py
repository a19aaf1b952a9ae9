"""Con and Con^ft: the losses against a slow loop over Eq. 2, switches, what training does."""

import numpy as np
import pytest
import torch
from helpers import build, embedded
from torch import nn

from despur.compute.task import encode
from despur.losses.fair_contrastive import fair_contrast
from despur.numerics.linear import logistic

RNG = np.random.default_rng


def literal_contrast(h, label, temperature):
    """Eq. 2 as it is printed: a scalar. L_scl for classes as labels, L_fcl for attributes.

    ``h``: (N,D) unit vectors; ``label``: (N,). A sample without positives contributes nothing."""
    total = h.new_zeros(())
    for i in range(len(h)):
        q = [j for j in range(len(h)) if j != i]
        p = [j for j in q if label[j] == label[i]]
        z = (h[q] @ h[i] / temperature).exp().sum()
        if p:
            total = total - ((h[p] @ h[i] / temperature).exp() / z).log().sum() / len(p)
    return total


def slow(h, label, temperature, plus=0, scope=None, mean=True):
    """Eq. 2, one sample after the other: the value of each, (N,). ``scope``: contrast only with samples of the same."""
    values = []
    for i in range(len(h)):
        others = [q for q in range(len(h)) if q != i and (scope is None or scope[q] == scope[i])]
        positives = [p for p in others if label[p] == label[i]]
        whole = np.log(sum(np.exp(h[i] @ h[q] / temperature) for q in others)) if others else 0.0
        values.append(sum(whole - h[i] @ h[p] / temperature for p in positives) / max(len(positives) + plus, 1))
    return np.array(values)


def case(seed=0, count=14, classes=3, dim=5):
    rng = RNG(seed)
    h = rng.normal(size=(count, dim))
    y, a = rng.integers(0, classes, count), rng.integers(0, 2, count)
    y[:2], a[0] = (classes, 0), 2  # one sample alone in its class, one alone in its attribute
    return h / np.linalg.norm(h, axis=1, keepdims=True), y, a


def fast(h, y, a, **rules):
    return fair_contrast(torch.from_numpy(h), torch.from_numpy(y), torch.from_numpy(a), 0.3, **rules)[0].item()


@pytest.mark.parametrize("plus", [0, 1])
@pytest.mark.parametrize("parts", ["both", "scl", "fcl"])
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_losses_over_the_batch_are_those_of_a_loop(plus, parts, mean, seed):
    h, y, a = case(seed)
    reduce = np.mean if mean else np.sum
    scl, fcl = (reduce(slow(h, label, 0.3, plus)) for label in (y, a))
    expected = {"both": scl - fcl, "scl": scl, "fcl": -fcl}[parts]
    assert fast(h, y, a, parts=parts, plus=plus, mean=mean) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("plus", [0, 1])
@pytest.mark.parametrize("parts", ["both", "fcl"])
@pytest.mark.parametrize("mean", [True, False])
def test_the_fair_loss_within_classes_is_that_of_a_loop(plus, parts, mean):
    h, y, a = case(2)
    each = slow(h, a, 0.3, plus, scope=y)
    fcl = np.mean([each[y == label].mean() for label in np.unique(y)]) if mean else each.sum()
    scl = slow(h, y, 0.3, plus)
    expected = (scl.mean() if mean else scl.sum()) * (parts == "both") - fcl
    numbered = 2 * y  # a class between others may be missing
    assert fast(h, numbered, a, parts=parts, plus=plus, mean=mean, within="class") == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_values_and_gradients_are_those_of_eq_2_and_3_as_printed(seed):
    h, y, a = (torch.from_numpy(values) for values in case(seed))
    fast, literal = h.clone().requires_grad_(), h.clone().requires_grad_()
    found = fair_contrast(fast, y, a, 0.3, mean=False)[0]
    expected = literal_contrast(literal, y, 0.3) - literal_contrast(literal, a, 0.3)
    found.backward()
    expected.backward()
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
    torch.testing.assert_close(fast.grad, literal.grad, rtol=1e-9, atol=1e-12)


def test_log_partitions_cancel_over_the_batch():
    rng = RNG(3)
    h, y, a = rng.normal(size=(12, 4)), np.arange(12) % 3, np.arange(12) % 2
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    similarity = h @ h.T / 0.3
    same = [(label[:, None] == label) & ~np.eye(12, dtype=bool) for label in (y, a)]
    means = [(similarity * of).sum(1) / of.sum(1) for of in same]
    assert fast(h, y, a) == pytest.approx((means[1] - means[0]).mean(), rel=1e-9)


@pytest.mark.parametrize("rules", [{}, {"within": "class"}, {"plus": 1}, {"parts": "scl"}])
def test_gradients_are_finite_at_a_small_temperature(rules):
    h, y, a = case(4)
    leaf = torch.tensor(h, dtype=torch.float32, requires_grad=True)
    fair_contrast(leaf, torch.from_numpy(y), torch.from_numpy(a), 0.01, **rules)[0].backward()
    assert leaf.grad.isfinite().all() and leaf.grad.abs().sum() > 0


def biased(count=240, seed=0):
    """Classes whose attribute agrees in four of five samples, as Moji's."""
    rng = RNG(seed)
    y = np.arange(count) % 2
    a = np.where(rng.random(count) < 0.8, y, 1 - y)
    return embedded(y, a, seed=seed)


def test_the_weights_of_eq_3():
    of, batch = biased(), np.arange(20)
    parts = build("con+ratio=3", of).losses(batch, RNG(0))
    assert parts["loss"].item() == pytest.approx(
        0.25 * parts["cross_entropy"].item() + 0.75 * parts["contrast"].item(), rel=1e-6
    )
    warm = build("con+temperature=0.5", of).losses(batch, RNG(0))
    for name in ("similarity_in_class", "similarity_in_attribute"):  # mean cosines, whatever the temperature
        assert warm[name].item() == pytest.approx(parts[name].item(), rel=1e-4) and abs(warm[name].item()) < 1
    alone = build("con+ratio=0", of).losses(batch, RNG(0))
    assert (
        alone["loss"].item()
        == pytest.approx(alone["cross_entropy"].item())
        == pytest.approx(parts["cross_entropy"].item())
    )


def test_switches_reach_the_loss():
    of, batch = biased(), np.arange(30)
    names = (
        "",
        "parts=scl",
        "parts=fcl",
        "within=class",
        "divisor=positives_and_anchor",
        "reduction=sum",
        "normalise=false",
        "temperature=0.5",
    )
    values = [build(f"con+{name}".rstrip("+"), of).losses(batch, RNG(0))["contrast"].item() for name in names]
    assert len({round(value, 5) for value in values}) == len(names)
    method = build("con", of)
    unit = nn.functional.normalize(method.encode(batch, RNG(0)))
    for name, plus in (("", 0), ("divisor=positives_and_anchor", 1)):
        expected = fair_contrast(unit, of.labels[batch], method.attribute[batch], 0.01, plus=plus)[0]
        assert values[names.index(name)] == pytest.approx(expected.item(), rel=1e-5)


def train(method, epochs=15):
    for number in range(epochs):
        for batch in method.epoch_batches(RNG(number)):
            method.step(batch, RNG(number))
    method.on_train_end(RNG(0))
    return method


def reads(method):
    """How far an attacker and the class's mean representations are: accuracy on the attribute, on the class."""
    z = encode(method.networks["encoder"], method.networks["head"], method.task.batcher, RNG(0))
    a, y = method.task.inferred_attribute, method.task.y
    weights, biases = logistic(z["z"].astype(float), a, 2)
    return ((z["z"] @ weights.T + biases).argmax(1) == a).mean(), (z["logits"].argmax(1) == y).mean()


def test_training_removes_the_attribute_and_keeps_the_class():
    settings = "batch_size=120+learning_rate=0.003"
    plain, _ = reads(train(build("erm+batch_size=120+encoder=mlp+learning_rate=0.003+optimizer=adam", biased())))
    for name in ("con", "con_ft"):
        leaked, accuracy = reads(train(build(f"{name}+{settings}+temperature=0.1", biased())))
        assert leaked < plain - 0.03 and accuracy > 0.8


def test_con_ft_trains_the_encoder_by_contrast_and_fits_the_head():
    of = biased()
    method = build("con_ft+batch_size=60+strength=0.05", of)
    given = method.encode(np.arange(60), RNG(0)), of.labels[np.arange(60)], method.attribute[np.arange(60)]
    assert method.objective(*given).item() == method.losses(np.arange(60), RNG(0))["loss"].item()
    before = method.networks["head"].weight.detach().clone()
    method.step(np.arange(60), RNG(0))
    assert torch.equal(before, method.networks["head"].weight)
    method.on_train_end(RNG(0))
    z = encode(method.networks["encoder"], None, of.batcher, RNG(0))["z"].astype(np.float32)
    np.testing.assert_allclose(
        method.networks["head"].weight.detach(), logistic(z, of.y, 2, 0.05, intercept=False)[0], atol=1e-6
    )
    assert not method.networks["head"].bias.any()


def test_the_mlp_has_the_layers_asked_for():
    of = embedded(np.arange(8) % 2, np.arange(8) % 2)
    encoder = build("con+encoder.activation=relu+encoder.dropout=0.5+encoder.hidden=7+encoder.layers=3", of).networks[
        "encoder"
    ]
    assert [layer.out_features for layer in encoder.layers if isinstance(layer, nn.Linear)] == [
        7,
        7,
        7,
    ] and encoder.dim == 7
    assert encoder(torch.zeros(5, 12)).shape == (5, 7) and (encoder(torch.ones(5, 12)) >= 0).all()
    assert [type(layer) for layer in build("con", of).networks["encoder"].layers] == 2 * [
        nn.Linear,
        nn.Tanh,
        nn.Dropout,
    ]
