"""Eq. 7, 16 and 17 of Zhang et al. 2022."""

import math

import numpy as np
import pytest
import torch
from helpers import build, labels, task
from torch import nn

from despur import losses
from despur.losses.contrastive import supervised_contrastive
from despur.losses.discrepancy import coral
from despur.losses.fair_contrastive import fair_contrast
from despur.losses.infonce import candidates
from despur.specs.settings import SettingError

MIXED = {(0, 0): 12, (0, 1): 7, (1, 1): 11, (1, 0): 6}
SMALL = "cnc+accumulation=3+num_negatives=4+num_positives=5"


class Constant(nn.Module):
    """An encoder that sees nothing."""

    def forward(self, images):
        return torch.ones(len(images), 84)


def slow_contrast(positive, negative, temperature):
    """Eq. 17, term by term, of one anchor's cosines with positives (M,) and with negatives (N,)."""
    below = sum(torch.exp(cosine / temperature) for cosine in (*positive, *negative))
    return -sum(torch.log(torch.exp(cosine / temperature) / below) for cosine in positive) / len(positive)


def slow_loss(method, rows, two_sided=True):
    """Eq. 7 with Eq. 16, one contrastive batch after the other, every presentation encoded by itself in double
    precision."""
    settings, m, n = method.settings, method.sampler.num_positives, method.sampler.num_negatives
    encoder, head = method.networks["encoder"].double(), method.networks["head"].double()
    total = torch.zeros((), dtype=torch.float64)
    for row in rows:
        z = [
            encoder(method.task.batcher.batch(np.array([sample]), np.random.default_rng(0)).double())[0]
            for sample in row
        ]
        unit = torch.stack([vector / vector.norm() for vector in z])
        anchors, positives, negatives, reverse = unit.split([m, m, n, n])
        contrastive = slow_contrast(positives @ anchors[0], negatives @ anchors[0], settings["temperature"])
        if two_sided:
            reversed_ = slow_contrast(anchors @ positives[0], reverse @ positives[0], settings["temperature"])
            contrastive = contrastive + reversed_
        cross = sum(
            -torch.log_softmax(head(vector), 0)[method.task.y[sample]] for vector, sample in zip(z, row, strict=True)
        ) / len(row)
        total = total + settings["lambda"] * contrastive + (1 - settings["lambda"]) * cross
    return total / len(rows)


def gradients(method, loss):
    """Gradient of every parameter, by name."""
    method.networks.zero_grad()
    loss.backward()
    return {name: parameter.grad.double().clone() for name, parameter in method.networks.named_parameters()}


def assert_same(first, second):
    assert first.keys() == second.keys()
    for name in first:
        scale = float(second[name].abs().max())
        assert scale > 0, name
        torch.testing.assert_close(
            first[name], second[name], rtol=1e-3, atol=1e-4 * scale, msg=lambda text, name=name: f"{name}: {text}"
        )


def cnc(name=SMALL, sizes=MIXED, **keywords):
    y, predicted = labels(sizes)
    return build(name, task(y, predicted, **keywords))


def some_anchors(method, count=3):
    return method.sampler.draw_anchors(np.random.default_rng(1))[:count]


@pytest.mark.parametrize("temperature", [0.05, 0.5, 2.0])
def test_contrastive_loss_is_equation_17(temperature):
    positive, negative = (torch.from_numpy(np.random.default_rng(0).uniform(-1, 1, (6, size))) for size in (5, 3))
    expected = [slow_contrast(p, n, temperature) for p, n in zip(positive, negative, strict=True)]
    torch.testing.assert_close(supervised_contrastive(positive, negative, temperature), torch.stack(expected))


def test_contrastive_loss_is_finite_at_a_tiny_temperature():
    loss = supervised_contrastive(torch.tensor([[1.0, -1.0]]), torch.tensor([[-1.0]]), 1e-3)
    assert loss.item() == pytest.approx(1000.0)  # half of (1 - (-1)) / t


def test_perfectly_separated_batches_reach_the_lower_bound():
    loss = supervised_contrastive(torch.ones(2, 8), -torch.ones(2, 8), 0.01)
    torch.testing.assert_close(loss, torch.full((2,), math.log(8)))


def test_constant_encoder_and_zero_head_give_the_known_value():
    sizes = {(c, p): 40 if c == p else 10 for c in range(5) for p in range(5)}
    method = cnc("cnc", sizes)
    method.networks["encoder"] = Constant()
    nn.init.zeros_(method.networks["head"].weight)
    nn.init.zeros_(method.networks["head"].bias)
    losses = method.losses(some_anchors(method, 10), np.random.default_rng(0))
    assert (method.sampler.num_positives, method.sampler.num_negatives) == (32, 32)
    assert losses["contrastive"].item() == pytest.approx(2 * math.log(64), rel=1e-6)
    assert losses["cross_entropy"].item() == pytest.approx(math.log(5), rel=1e-6)
    assert losses["loss"].item() == pytest.approx(0.75 * 2 * math.log(64) + 0.25 * math.log(5), rel=1e-6)
    assert round(losses["loss"].item(), 2) == 6.64


@pytest.mark.parametrize("two_sided", [True, False])
def test_loss_and_gradients_are_those_of_the_slow_version(two_sided):
    method = cnc(SMALL if two_sided else f"{SMALL}+two_sided=false")
    batch = some_anchors(method)
    rows = method.sampler.draw(np.random.default_rng(0), batch).rows
    loss = method.losses(batch, np.random.default_rng(0))["loss"]
    fast = gradients(method, loss)
    slow = slow_loss(method, rows, two_sided)
    assert loss.item() == pytest.approx(slow.item(), rel=1e-5)
    assert_same(fast, gradients(method, slow))


def test_encoding_each_distinct_image_once_changes_neither_loss_nor_gradients():
    once, every = (cnc(crop=crop, side=32) for crop in ("centre", "presentation"))  # 32 x 32: there is one window only
    batch = some_anchors(once)
    first, second = (method.losses(batch, np.random.default_rng(0)) for method in (once, every))
    for name in first:
        assert first[name].item() == pytest.approx(second[name].item(), rel=1e-5)
    assert_same(gradients(once, first["loss"]), gradients(every, second["loss"]))


@pytest.mark.parametrize("crop", ["centre", "image", "presentation"])
def test_how_many_images_are_encoded(crop):
    method = cnc(crop=crop)
    batch = some_anchors(method)
    rows = method.sampler.draw(np.random.default_rng(0), batch).rows
    assert len(np.unique(rows)) < rows.size == method.count_images(batch) == 3 * 2 * (5 + 4)
    encoded = []
    method.networks["encoder"].register_forward_hook(lambda module, inputs, output: encoded.append(len(output)))
    method.losses(batch, np.random.default_rng(0))
    assert encoded == [rows.size if crop == "presentation" else len(np.unique(rows))]


def test_lambda_zero_leaves_cross_entropy_only():
    method = cnc(f"{SMALL}+lambda=0")
    batch = some_anchors(method)
    rows = method.sampler.draw(np.random.default_rng(0), batch).rows.ravel()
    losses = method.losses(batch, np.random.default_rng(0))
    assert losses["loss"].item() == losses["cross_entropy"].item()
    logits = method.networks["head"](
        method.networks["encoder"](method.task.batcher.batch(rows, np.random.default_rng(0)))
    )
    plain = nn.functional.cross_entropy(logits, method.task.labels[rows])
    assert losses["loss"].item() == pytest.approx(plain.item(), rel=1e-5)
    assert_same(gradients(method, losses["loss"]), gradients(method, plain))


def test_lambda_one_leaves_the_contrastive_loss_only():
    method = cnc(f"{SMALL}+lambda=1")
    losses = method.losses(some_anchors(method), np.random.default_rng(0))
    assert losses["loss"].item() == losses["contrastive"].item()
    found = gradients(method, losses["loss"])
    assert not found["head.weight"].any() and not found["head.bias"].any()
    assert found["encoder.layers.0.weight"].abs().max() > 0


def test_projection_takes_the_contrastive_loss_and_leaves_cross_entropy_alone():
    plain, projected = cnc(), cnc(f"{SMALL}+projection=16")
    for parameter in projected.networks["projection"].parameters():
        nn.init.constant_(parameter, 0.1)  # every sample is projected onto the same ray
    batch = some_anchors(plain)
    first, second = (method.losses(batch, np.random.default_rng(0)) for method in (plain, projected))
    assert second["contrastive"].item() == pytest.approx(2 * math.log(5 + 4), rel=1e-5)
    assert abs(first["contrastive"].item() - second["contrastive"].item()) > 0.01
    assert second["cross_entropy"].item() == pytest.approx(first["cross_entropy"].item(), rel=1e-6)


@pytest.mark.parametrize("kept", ["accumulate", "clear"])
def test_head_gradient_is_summed_over_an_epoch_only_where_asked(kept):
    frozen = "learning_rate=1e-30+momentum=0+weight_decay=0"  # steps that change no weight
    method = cnc(f"{SMALL}+head_gradient={kept}+{frozen}")
    alone = []
    for step, batch in enumerate(method.epoch_batches(np.random.default_rng(2))):
        fresh = cnc(f"{SMALL}+{frozen}")
        alone.append(gradients(fresh, fresh.losses(batch, np.random.default_rng(step))["loss"]))
        method.step(batch, np.random.default_rng(step))
    assert len(alone) > 1
    grad = {name: parameter.grad.double() for name, parameter in method.networks.named_parameters()}
    total = {name: sum(each[name] for each in alone) for name in grad}
    heads = {name for name in grad if name.startswith("head")}
    expected = {name: total[name] if kept == "accumulate" and name in heads else alone[-1][name] for name in grad}
    assert_same(grad, expected)
    next(iter(method.epoch_batches(np.random.default_rng(3))))
    # an epoch starts without gradients
    assert all(parameter.grad is None for parameter in method.networks.parameters())


def test_words_and_domains_that_do_not_exist_are_refused():
    unit, y = torch.eye(4), torch.tensor([0, 0, 1, 1])
    for call in (
        lambda: candidates(2, "both", torch.device("cpu")),
        lambda: fair_contrast(unit, y, y, 0.5, parts="scl_only"),
        lambda: fair_contrast(unit, y, y, 0.5, within="classes"),
    ):
        with pytest.raises(SettingError, match=r"='\w+': one of "):
            call()
    for domain in (y + 1, 2 * y - 1):
        with pytest.raises(ValueError, match="domains are from 0 to 1; got"):
            coral(unit, domain, domains=2)


@pytest.mark.parametrize("temperature", [0, -1.0, math.nan])
def test_temperatures_that_are_not_above_zero_are_refused(temperature):
    unit, every = torch.eye(2), torch.ones(2, 2, dtype=torch.bool)
    for contrast in (
        lambda t: losses.supervised_contrastive(unit, unit, t),
        lambda t: losses.one_positive_contrast(unit, unit, every, every, t),
        lambda t: losses.image_text_contrast(unit, unit, t),
        lambda t: losses.info_nce(unit, torch.tensor([0, 1]), every, t),
        lambda t: losses.fair_contrast(unit, torch.tensor([0, 1]), torch.tensor([0, 1]), t),
    ):
        contrast(0.5)
        with pytest.raises(ValueError, match=f"temperature={temperature}: "):
            contrast(temperature)
