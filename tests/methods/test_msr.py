"""Eq. 3 to 9 and Algorithm 1 of Qiang et al. 2022."""

import math

import numpy as np
import pytest
import torch
from helpers import build, task

from despur.losses.infonce import candidates, two_view_contrast
from despur.losses.semantic import backdoor, uniformity
from despur.methods.families.look_ahead import copy_leaves
from despur.methods.families.msr import SemanticWeights
from despur.specs.declarations import list_components

RNG = np.random.default_rng
N = 6
BATCH = np.arange(N)
WEARERS = [name for name in list_components("methods") if name.endswith("_msr")]
SMALL = "+augment.blur=0+encoder.dim=3+encoder.width=2+projector_dim=3+projector_width=5+warmup=0"
OWN = {"ressl_msr": "+queue=9", "swav_msr": "+prototypes=4"}


def literal_look_ahead(method, views, weights):
    """L_ct(f^1, f_ph^1) as Eq. 5 to 8 are written, on one process.

    It differentiates through the step of Eq. 7, which costs a backward pass of a backward pass of the encoder."""
    s = method.settings
    f = copy_leaves({name: p for name, p in method.networks.named_parameters() if p.requires_grad})
    l_ct, l_msr = method.call_with(f, method.objectives, views, weights)
    l_to = l_ct + s["lambda"] * l_msr  # Eq. 5
    gradients = torch.autograd.grad(l_to, list(f.values()), create_graph=True)
    alpha = s["alpha"] or method.optimizer.param_groups[0]["lr"]
    f_1 = {name: p - alpha * g for (name, p), g in zip(f.items(), gradients, strict=True)}  # Eq. 7
    return method.call_with(f_1, method.objectives, views)[0]  # the first term of Eq. 8


def small(name, more="", count=N):
    return build(f"{name}{SMALL}{OWN.get(name, '')}{more}", task(np.arange(count) % 2))


def generated(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


# Eq. 3, 4 and 6


def slow_msr(h, weights, tau):
    """-log of Eq. 4, term by term, without a head: ``h`` (2N,c), ``weights`` (N,n,c)."""
    total, count = 0.0, len(h) // 2

    def sim(a, b):
        return float(a @ b / a.norm() / b.norm())

    for i in range(2 * count):
        other = (i + count) % (2 * count)
        rest = sum(math.exp(sim(h[i], h[k]) / tau) for k in range(2 * count) if k % count != i % count)
        terms = [math.exp(sim(h[i], a * h[other]) / tau) for a in weights[i % count]]
        total -= math.log(sum(term / (term + rest) / len(terms) for term in terms))
    return total / (2 * count)


class Passing(torch.nn.Module):
    """An encoder of images that are representations already."""

    dim = 3

    def forward(self, images):
        return images


def plain(more=""):
    method = small("simclr_msr", f"+projector=none+temperature=0.4{more}")
    method.networks["encoder"] = Passing()
    return method


@pytest.mark.parametrize("unit", ["true", "false"])
def test_eq_4_and_6_term_by_term(unit):
    h, weights = generated(2 * N, 3), generated(N, 4, 3, seed=1).abs()
    method = plain(f"+unit={unit}")
    contrast, msr = method.objectives((h, h), weights)
    torch.testing.assert_close(contrast, two_view_contrast(h, candidates(N, "both_views", h.device), 0.4))
    assert msr.item() == pytest.approx(slow_msr(h, weights, 0.4), rel=1e-9)
    for total, mean in zip(
        plain(f"+reduction=sum+unit={unit}").objectives((h, h), weights), (contrast, msr), strict=True
    ):
        torch.testing.assert_close(total, 2 * N * mean)


@pytest.mark.parametrize("name", WEARERS)
def test_one_weighting_that_changes_nothing_is_the_contrastive_loss(name):
    """Eq. 4 with n = 1 and a = 1 is Eq. 1, for every method; what LMCL adds to it is not part of a probability."""
    method = small(name, "+unit=false" + ("+polarization=0" if name == "lmcl_msr" else ""))
    views = method.views(method.task.batcher.batch(BATCH, RNG(0)), RNG(0))
    method.networks.eval()
    contrast, msr = method.objectives(views, torch.ones(N, 1, method.channels))
    assert contrast.item() > 0
    torch.testing.assert_close(msr, contrast)


@pytest.mark.parametrize("name", WEARERS)
def test_both_views_of_an_image_share_its_weights(name):
    method = small(name)
    seen, weigh = [], method.weigh
    method.weigh = lambda weights, h: (seen.append((weights, h, weigh(weights, h))), seen[-1][2])[1]
    method.losses(BATCH, RNG(0))
    ((weights, h, weighted),) = seen
    assert weights.shape == (N, 6, method.channels) and h.shape == (2 * N, method.channels)
    c = method.channels
    for row in range(2 * N):
        for t in range(6):
            torch.testing.assert_close(weighted[t, row], math.sqrt(c) * weights[row % N, t] * h[row])
    assert not torch.allclose(weights[0], weights[1]) and not torch.allclose(weights[0, 0], weights[0, 1])


def test_backdoor_averages_probabilities_not_losses():
    p = torch.tensor([[0.5, 0.1], [0.25, 0.3]], dtype=torch.float64)
    expected = -(math.log(0.375) + math.log(0.2)) / 2
    assert backdoor(-p.log()).item() == pytest.approx(expected, rel=1e-12)


# f_msr and Eq. 9


def test_weights_of_images():
    torch.manual_seed(0)
    images = torch.rand(5, 3, 16, 16)
    unit = SemanticWeights((3, 16, 16), 4, 6, 8, squash=True, unit=True)(images)
    assert unit.shape == (5, 6, 8) and (unit > 0).all()
    torch.testing.assert_close(unit.norm(dim=2), torch.ones(5, 6))
    raw = SemanticWeights((3, 16, 16), 4, 6, 8, squash=False, unit=False)(images)
    assert (raw < 0).any() and (raw > 0).any()
    squashed = SemanticWeights((3, 16, 16), 4, 6, 8, squash=True, unit=False)(images)
    assert ((squashed > 0) & (squashed < 1)).all()


@pytest.mark.parametrize("t", [0.5, 2.0])
def test_uniformity_of_known_configurations(t):
    same = torch.nn.functional.normalize(torch.ones(2, 4, 5), dim=2)
    assert uniformity(same, t).item() == pytest.approx(math.log(16), rel=1e-6)
    orthogonal = torch.eye(5)[None, :4]
    assert uniformity(orthogonal, t).item() == pytest.approx(math.log(4 + 12 * math.exp(-2 * t)), rel=1e-6)
    opposite = torch.tensor([[[1.0, 0.0], [-1.0, 0.0]]])
    assert uniformity(opposite, t).item() == pytest.approx(math.log(2 + 2 * math.exp(-4 * t)), rel=1e-6)
    assert uniformity(torch.cat([same[:, :, :5], orthogonal]), t).item() == pytest.approx(
        (2 * math.log(16) + math.log(4 + 12 * math.exp(-2 * t))) / 3, rel=1e-6
    )


# Algorithm 1


@pytest.mark.parametrize("name", WEARERS)
def test_the_look_ahead_is_eq_5_to_8_as_they_are_written(name):
    method = small(name, "+alpha=0.5+lambda=2+msr_width=2+n=2")
    method.networks.double()
    images = method.task.batcher.batch(BATCH, RNG(0))
    anchors, positives = method.views(images, RNG(0))
    views = (anchors.double(), positives.double())
    found = []
    for look_ahead in (method.look_ahead, lambda *given: literal_look_ahead(method, *given)):
        weights = generated(N, 2, method.channels).abs().requires_grad_()
        value = look_ahead(views, weights)
        found.append((value, torch.autograd.grad(value, weights)[0]))
    assert found[1][1].abs().max() > 1e-8
    torch.testing.assert_close(found[0], found[1])


def test_uniformity_reaches_f_msr_with_its_weight():
    slopes = []
    for gamma in (0, 1, 3):
        method = small("simclr_msr", f"+alpha=0.5+gamma={gamma}")
        method.step_seed, images = 0, method.task.batcher.batch(BATCH, RNG(0))
        bias = method.networks["msr"].layers[8].bias
        parameters = {key: p.detach().requires_grad_() for key, p in method.networks["msr"].named_parameters()}
        loss = method.meta_loss(parameters, method.views(images, RNG(0)), images)["loss"]
        slopes.append(torch.autograd.grad(loss, parameters["layers.8.bias"])[0])
        assert slopes[-1].shape == bias.shape
    torch.testing.assert_close(slopes[2] - slopes[0], 3 * (slopes[1] - slopes[0]))
    assert (slopes[1] - slopes[0]).abs().max() > 1e-4


def test_in_sums_gamma_weighs_2n_times_less_and_the_look_ahead_goes_2n_times_as_far():
    """Eq. 8 in sums, with gamma times 2N and alpha through 2N, is 2N times Eq. 8 in means."""
    found = []
    for own in ("+alpha=1.2+gamma=3", f"+alpha={1.2 / (2 * N)}+gamma={3 * 2 * N}+reduction=sum"):
        method = small("simclr_msr", own)
        method.networks.double()
        method.step_seed, images = 0, method.task.batcher.batch(BATCH, RNG(0))
        parameters = {key: p.detach().requires_grad_() for key, p in method.networks["msr"].named_parameters()}
        views = method.views(images, RNG(0))[0].double()
        loss = method.meta_loss(parameters, (views, views), images.double())["loss"]
        found.append([loss, *torch.autograd.grad(loss, list(parameters.values()))])
    for mean, total in zip(*found, strict=True):
        torch.testing.assert_close(total, 2 * N * mean)


def test_first_order_is_the_gradient_of_l_msr_where_encoder_and_head_are():
    method = small("simclr_msr", "+gamma=0+second_order=false")
    method.step_seed, images = 0, method.task.batcher.batch(BATCH, RNG(0))
    views = method.views(images, RNG(0))
    parameters = {key: p.detach().requires_grad_() for key, p in method.networks["msr"].named_parameters()}
    slope = torch.autograd.grad(method.meta_loss(parameters, views, images)["loss"], parameters["layers.8.bias"])[0]
    torch.manual_seed(0)
    msr = method.objectives(views, torch.func.functional_call(method.networks["msr"], parameters, (images,)))[1]
    torch.testing.assert_close(slope, torch.autograd.grad(msr, parameters["layers.8.bias"])[0])


def changed(method, before):
    """Which of a method's networks changed their parameters."""
    now = {key: p.detach().clone() for key, p in method.networks.named_parameters()}
    return {key.split(".")[0] for key in now if not torch.equal(now[key], before.get(key, now[key]))}, now


@pytest.mark.parametrize("name", WEARERS)
@pytest.mark.parametrize("order", ["true", "false"])
def test_an_epoch_has_two_stages(name, order):
    method = small(name, f"+batch_size=4+second_order={order}", count=13)
    batches = list(method.epoch_batches(RNG(0)))
    assert [len(batch) for batch in batches] == [4] * 6
    assert not np.array_equal(np.concatenate(batches[:3]), np.concatenate(batches[3:]))
    _, parameters = changed(method, {})
    seeds = set()  # of what is dropped
    for epoch in range(2):
        for i, batch in enumerate(batches):
            method.steps_done = 6 * epoch + i
            assert method.second_stage == (i >= 3)
            method.set_learning_rate(epoch + i / 6)
            statistics = {key: b.clone() for key, b in method.networks.named_buffers()}
            losses = method.step(batch, RNG(i))
            which, parameters = changed(method, parameters)
            if i < 3:
                assert "encoder" in which and "msr" not in which and {"contrast", "msr"} <= losses.keys()
            else:
                assert which == {"msr"} and {"look_ahead", "uniformity"} <= losses.keys()
                seeds.add(method.step_seed)
                assert all(torch.equal(b, statistics[key]) for key, b in method.networks.named_buffers())
    assert len(seeds) == 3, "steps of one epoch drop different units"


def test_the_first_step_of_f_msr_is_as_long_as_beta():
    """Adam's first step is its rate in the direction of each slope's sign."""
    method = small("simclr_msr", "+beta=0.02+learning_rate=0.3")
    _, before = changed(method, {})
    method.meta_step(BATCH, RNG(0))
    _, after = changed(method, {})
    assert max((after[key] - before[key]).abs().max().item() for key in after) == pytest.approx(0.02, rel=1e-2)


def test_look_ahead_steps_by_the_encoders_rate_unless_alpha_is_set():
    method = small("simclr_msr", "+gamma=0+learning_rate=0.02")
    twin = small("simclr_msr", "+alpha=0.02+gamma=0+learning_rate=0.3")
    twin.networks.load_state_dict(method.networks.state_dict())
    for each in (method, twin):
        for group in each.optimizer.param_groups:
            group["lr"] = each.settings["learning_rate"]
    first, second = (each.meta_step(BATCH, RNG(0))["loss"] for each in (method, twin))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_warm_up_counts_steps_of_the_first_stage():
    method = small("simclr_msr", "+batch_size=4", count=12).settings | {"warmup": 5, "epochs": 100}
    of = small("simclr_msr", "+batch_size=4", count=12)
    of.settings = method
    rates = [of.lr_factor(i / 6) for i in range(12)]
    np.testing.assert_allclose(rates, [0.2, 0.4, 0.6, 0.6, 0.6, 0.6, 0.8, 1, 1, 1, 1, 1])
    np.testing.assert_allclose([of.lr_factor(e) for e in (49.9, 50, 74.9, 75, 99.9)], [1, 0.2, 0.2, 0.04, 0.04])
