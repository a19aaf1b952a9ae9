"""Adversarial training with several discriminators."""

import itertools

import numpy as np
import pytest
import torch
from helpers import CPU, biased, build
from torch import nn

from despur.compute.machine import Machine
from despur.losses.adversarial import reverse_gradient
from despur.methods.adv import orthogonality

RNG = np.random.default_rng


def gradients(method, batch):
    losses = method.losses(batch, RNG(0))
    return losses, torch.autograd.grad(losses["loss"], method.networks["encoder"].parameters(), retain_graph=True)


def test_the_encoder_follows_cross_entropy_against_the_reversed_gradient_of_the_adversaries():
    of, batch = biased(), np.arange(60)
    method = build("adv+weight=0.3", of)
    losses, found = gradients(method, batch)
    z = method.networks["encoder"](of.batcher.batch(batch, RNG(0)))
    cross = nn.functional.cross_entropy(method.networks["head"](z), of.labels[batch])
    a = torch.from_numpy(of.inferred_attribute[batch])
    adversarial = sum(nn.functional.cross_entropy(each(z)[0], a) for each in method.adversary) / 3
    wanted = torch.autograd.grad(cross - 0.3 * adversarial, method.networks["encoder"].parameters())
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    assert losses["loss"].item() == pytest.approx((cross + adversarial).item(), rel=1e-5)


def test_the_discriminators_learn_the_attribute_and_no_gradient_of_theirs_reaches_the_encoder():
    of = biased()
    method = build("adv+orthogonality=0+weight=0", of)
    before = [p.detach().clone() for p in method.networks["encoder"].parameters()]
    z, a = method.encode_all(RNG(0)), method.attribute.values
    values = [method.discriminator_step(z, a).item() for _ in range(60)]
    assert values[-1] < 0.6 * values[0]
    assert all(torch.equal(p, q) for p, q in zip(before, method.networks["encoder"].parameters(), strict=True))
    free, tied = (gradients(build(name, of), np.arange(60))[1] for name in ("erm+encoder=mlp", "adv+weight=0"))
    for one, other in zip(free, tied, strict=True):  # without weight: cross-entropy alone
        torch.testing.assert_close(one, other)


def test_a_step_of_the_discriminators_is_on_their_loss_plus_the_penalty_and_leaves_no_gradient():
    method = build("adv+decay=linear+discriminator_rate=0.5+epochs=10+learning_rate=0.01+orthogonality=2", biased())
    z, a = method.encode_all(RNG(0)), method.attribute.values
    cross, hidden = method.adversarial(z, a)
    expected = cross + 2 * orthogonality(hidden)
    assert method.discriminator_step(z, a).item() == pytest.approx(expected.item())
    method.step(np.arange(60), RNG(0))  # what the encoder's step finds for them would be added to their next one
    assert all(p.grad is None for p in method.adversary.parameters())
    method.set_learning_rate(5)
    assert method.discriminator_optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * 0.5 * 0.01)


def test_in_bf16_the_discriminators_learn_on_the_weights_that_they_have():
    """Autocast must not keep weights in bf16 over the optimizer's steps within one step of the loop."""
    refitted = []
    for precision in ("fp32", "bf16"):
        method = build("adv+discriminator_epochs=30+orthogonality=0", biased())
        with Machine(CPU, precision).autocast:
            refitted.append(method.refit(RNG(0)).item())
    assert refitted[0] == pytest.approx(refitted[1], rel=0.05) and refitted[0] < 0.6


def slow_orthogonality(hidden):
    """Mean over pairs of layers, and over pairs of samples, of their squared cosine; divided by constant lengths."""
    found = []
    for layer, other in itertools.combinations(hidden, 2):
        cosines = [
            (first @ second) / ((first.norm().detach() + 1e-6) * (second.norm().detach() + 1e-6))
            for first in layer
            for second in other
        ]
        found.append(sum(cosine**2 for cosine in cosines) / len(cosines))
    return sum(found) / len(found)


def test_orthogonality_and_its_gradient_are_those_of_a_slow_version():
    hidden = [torch.from_numpy(RNG(i).normal(size=(5, 7))).float().requires_grad_() for i in range(3)]
    fast, slow = orthogonality(hidden), slow_orthogonality(hidden)
    torch.testing.assert_close(fast, slow)
    for one, other in zip(torch.autograd.grad(fast, hidden), torch.autograd.grad(slow, hidden), strict=True):
        assert other.abs().max() > 1e-4
        torch.testing.assert_close(one, other)
    assert orthogonality(hidden[:1]).item() == 0  # no pair


def test_orthogonality_in_bf16_is_that_in_fp32():
    """Of layers that are nearly orthogonal, each with rows that are nearly alike."""
    noise = torch.Generator().manual_seed(0)
    directions = torch.linalg.qr(torch.randn(256, 2, generator=noise)).Q.T
    hidden = [each + 0.01 * torch.randn(8, 256, generator=noise) for each in directions]
    with Machine(CPU, "bf16").autocast:
        found = orthogonality(hidden)
    assert found == orthogonality(hidden)


def test_by_turns_the_discriminators_change_only_after_an_epoch():
    of = biased()
    method = build("adv+batch_size=100+discriminator_epochs=4+discriminator_rate=0.5", of)
    batches = list(method.epoch_batches(RNG(0)))
    assert [len(batch) for batch in batches] == [100, 100, 40, 0]
    state = [p.detach().clone() for p in method.adversary.parameters()]
    encoder = method.networks["encoder"].layers[0].weight
    for batch in batches[:3]:
        method.step(batch, RNG(0))
    assert all(torch.equal(p, q) for p, q in zip(state, method.adversary.parameters(), strict=True))
    before = encoder.detach().clone()
    assert method.step(batches[3], RNG(0))["loss"].isfinite()
    assert torch.equal(before, encoder) and not torch.equal(state[0], next(method.adversary.parameters()))
    assert method.discriminator_optimizer.param_groups[0]["lr"] == pytest.approx(0.5 * method.settings["learning_rate"])


def test_patience_ends_the_discriminators_turn():
    method = build("adv+batch_size=240+discriminator_epochs=100+discriminator_patience=3+learning_rate=0.001", biased())
    losses = iter([3.0, 2.0, 2.5, 2.5, 1.0, 1.5, 1.5, 1.5, 0.1])
    seen = []
    method.discriminator_step = lambda z, a: seen.append(1) or torch.tensor(next(losses))
    assert method.refit(RNG(0)).item() == 1.0 and len(seen) == 8


def test_an_epoch_of_their_turn_shows_each_sample_once_in_a_new_order_and_its_loss_is_the_mean_over_samples():
    """Mini-batches of 100, 100 and 40, whose loss is the mean of the first numbers of their representations."""
    method, shown = build("adv+batch_size=100+discriminator_epochs=2", biased()), []
    method.discriminator_step = lambda z, a: shown.append(torch.column_stack([z, a])) or z[:, 0].mean()
    z = method.encode_all(RNG(0))
    assert method.refit(RNG(0)).item() == pytest.approx(z[:, 0].mean().item(), rel=1e-4)
    whole, *epochs = torch.column_stack([z, method.attribute.values]), *torch.cat(shown).chunk(2)
    assert all(sorted(each.tolist()) == sorted(whole.tolist()) for each in epochs)
    assert not epochs[0].equal(whole) and not epochs[0].equal(epochs[1])


def test_one_discriminator_is_the_plain_adversary():
    method = build("adv+discriminators=1+orthogonality=0", biased())
    z = torch.ones(4, 300, requires_grad=True)
    value = method.adversarial(reverse_gradient(z, 2.0), torch.tensor([0, 1, 0, 1]))[0]
    reversed_, plain = (
        torch.autograd.grad(value, z)[0],
        torch.autograd.grad(method.adversarial(z, torch.tensor([0, 1, 0, 1]))[0], z)[0],
    )
    torch.testing.assert_close(reversed_, -2 * plain)
    assert len(method.adversary) == 1
