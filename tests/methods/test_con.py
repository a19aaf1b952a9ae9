"""Con and Con^ft: the losses against a slow loop over Eq. 2, switches, what trains which network."""

import numpy as np
import pytest
import torch
from helpers import biased, build, embedded
from torch import nn

from despur.compute.task import encode
from despur.losses.fair_contrastive import fair_contrast
from despur.numerics.linear import logistic

RNG = np.random.default_rng


def slow(h, label, plus=0, scope=None):
    """Eq. 2 at temperature 0.3, one sample after the other: the value of each, (N,). L_scl for classes as labels, L_fcl
    for attributes.

    ``h``: (N,D) unit vectors; ``label``: (N,). ``scope``: contrast only with samples of the same. A sample without
    positives contributes nothing."""
    values = []
    for i in range(len(h)):
        others = [q for q in range(len(h)) if q != i and (scope is None or scope[q] == scope[i])]
        positives = [p for p in others if label[p] == label[i]]
        whole = (h[others] @ h[i] / 0.3).exp().sum()
        each = -((h[positives] @ h[i] / 0.3).exp() / whole).log()
        values.append(each.sum() / max(len(positives) + plus, 1))
    return torch.stack(values)


def case(seed=0, count=14, classes=3, dim=5):
    rng = RNG(seed)
    h = torch.from_numpy(rng.normal(size=(count, dim)))
    y, a = rng.integers(0, classes, count), rng.integers(0, 2, count)
    y[:2], a[0] = (classes, 0), 2  # one sample alone in its class, one alone in its attribute
    return nn.functional.normalize(h), torch.from_numpy(y), torch.from_numpy(a)


@pytest.mark.parametrize("plus", [0, 1])
@pytest.mark.parametrize("parts", ["both", "scl", "fcl"])
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("within", ["batch", "class"])
def test_losses_and_gradients_are_those_of_a_loop_over_eq_2_and_3(plus, parts, mean, within):
    h, y, a = case()
    h.requires_grad_()
    scl, each = slow(h, y, plus), slow(h, a, plus, scope=y if within == "class" else None)
    scl, fcl = (values.mean() if mean else values.sum() for values in (scl, each))
    if mean and within == "class":
        fcl = torch.stack([each[y == label].mean() for label in y.unique()]).mean()
    expected = {"both": scl - fcl, "scl": scl, "fcl": -fcl}[parts]
    numbered = 2 * y  # a class between others may be missing
    found = fair_contrast(h, numbered, a, 0.3, parts=parts, plus=plus, mean=mean, within=within)[0]
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=0)
    gradients = [torch.autograd.grad(value, h, retain_graph=True)[0] for value in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rules", [{}, {"within": "class"}, {"plus": 1}, {"parts": "scl"}])
def test_gradients_are_finite_at_a_small_temperature(rules):
    h, y, a = case(4)
    leaf = h.float().requires_grad_()
    fair_contrast(leaf, y, a, 0.01, **rules)[0].backward()
    assert leaf.grad.isfinite().all() and leaf.grad.abs().sum() > 0


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
