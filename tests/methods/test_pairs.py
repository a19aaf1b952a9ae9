"""Self-supervised methods that compare views: what each minimizes, its schedule, its target network, its queue, its
prototypes."""

import math

import numpy as np
import pytest
import torch
from helpers import CPU, build, task
from torch.nn.functional import normalize

from despur.augment.base import lab
from despur.compute.machine import Machine
from despur.losses.correlation import redundancy
from despur.losses.debiased import debiased_contrast
from despur.losses.infonce import candidates, cosine, negatives, two_view_contrast
from despur.losses.polarization import distance_polarization
from despur.losses.whitening import whiten
from despur.orchestration import experiments
from despur.specs.declarations import list_components, read_declarations
from despur.specs.resolution import resolve
from despur.training.loop import Trainer

RNG = np.random.default_rng
N = 6
BATCH = np.arange(N)
SMALL = "+encoder.width=2+projector_width=5"
PAIRS = ["simclr", "byol", "ressl+queue=9", "lmcl", "relic", "moco+queue=9", "swav+prototypes=5", "dcl", "ssl_hsic"]


def small(name, count=N):
    return build(f"{name}{SMALL}", task(np.arange(count) % 2))


def embeddings(count=2 * N, dim=4, seed=0):
    return torch.randn(count, dim, generator=torch.Generator().manual_seed(seed))


def other(z):
    return z.roll(len(z) // 2, 0)


def cos(a, b):
    return float(a @ b / a.norm() / b.norm())


# Schedule and settings


def test_qiangs_schedule():
    """Sec. 6.2: 500 iterations of warm-up, times .2 at 50 and at 25 epochs before the end."""
    of = small("byol+batch_size=3+epochs=1000")
    assert of.steps_per_epoch == 2
    np.testing.assert_allclose([of.lr_factor(e) for e in (0, 0.5, 1, 249.5, 250)], [1 / 500, 2 / 500, 3 / 500, 1, 1])
    np.testing.assert_allclose([of.lr_factor(e) for e in (949.5, 950, 974.5, 975, 999.5)], [1, 0.2, 0.2, 0.04, 0.04])
    of.set_learning_rate(980)
    assert of.optimizer.param_groups[0]["lr"] == pytest.approx(3e-3 * 0.04) and isinstance(
        of.optimizer, torch.optim.Adam
    )


def test_a_schedule_without_warm_up_is_as_before():
    of = small("simclr+epochs=400")
    np.testing.assert_allclose([of.lr_factor(e) for e in (0, 19.5, 20, 40)], [1, 1, 0.9, 0.81])


QIANG = [
    name
    for name in list_components("methods")
    if "warmup" in read_declarations("methods", name)["SETTINGS"] and name.endswith("_msr")
]


@pytest.mark.parametrize(
    "name", [*QIANG, *(name.removesuffix("_msr") for name in QIANG if name != "simclr_msr"), "wmse", "moco", "relic"]
)
def test_every_method_has_the_settings_of_sec_6_2(name):
    found = {key: s.default for key, s in read_declarations("methods", name)["SETTINGS"].items()}
    stated = {
        "epochs": 1000,
        "learning_rate": 3e-3,
        "weight_decay": 1e-6,
        "warmup": 500,
        "optimizer": "adam",
        "decay": "drops",
    }
    assert stated.items() <= found.items()


@pytest.mark.parametrize("dataset", [*experiments.load_experiments("icl_msr")["datasets"], "scene_digits"])
@pytest.mark.parametrize("name", QIANG)
def test_msr_and_its_base_differ_in_msr_alone(name, dataset):
    """What both have is the same wherever both are run, parts such as the encoder too."""
    own, base = (
        resolve("methods", each, dataset, "stage1").points[0].resolved() for each in (name, name.removesuffix("_msr"))
    )
    assert base.keys() <= own.keys()
    assert {key: own[key] for key in base if key != "name"} == {
        key: value for key, value in base.items() if key != "name"
    }


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("simclr", (1, 1)),
        ("byol", (0.1, 1)),
        ("lmcl", (0.1, 1)),
        ("ressl", (0.01, 1)),
        ("cmc", (0.1, 0.1)),
        ("dcl", (1, 1)),
    ],
)
def test_lambda_and_gamma_are_those_of_sec_6_3(name, weights):
    found = read_declarations("methods", f"{name}_msr")["SETTINGS"]
    assert (
        (found["lambda"].default, found["gamma"].default) == weights
        and found["n"].default == 6
        and found["t"].default == 2
    )


@pytest.mark.parametrize("dataset", [*experiments.load_experiments("icl_msr")["datasets"], "scene_digits"])
def test_simclrs_embedding_alone_has_batch_norm(dataset):
    """W-MSE's released code, its bn_last."""
    found = {
        name: resolve("methods", name, dataset, "stage1").points[0].settings["projector"] for name in ("simclr", *QIANG)
    }
    assert {name for name, kind in found.items() if kind == "mlp_bn_bn"} == {"simclr", "simclr_msr"}


def test_batch_norm_at_the_end_is_of_both_views_together():
    method = small("simclr_msr")
    z = method.two_views(BATCH, RNG(0))
    torch.testing.assert_close(z.mean(dim=0), torch.zeros(64), rtol=0, atol=1e-5)
    torch.testing.assert_close(z.var(dim=0, unbiased=False), torch.ones(64), rtol=0, atol=0.02)
    assert method.embedding_dim == z.shape[1] and (z[:N].mean(dim=0).abs() > 0.05).any()


# Pairs


@pytest.mark.parametrize("name", PAIRS)
def test_both_views_of_every_sample_are_anchors_once(name):
    """Exchanging the views of all samples leaves the loss as it is."""
    method = small(name)
    z, p = embeddings(dim=method.embedding_dim), embeddings(dim=method.embedding_dim, seed=1)
    loss = method.contrast(z, method.opposite(p))
    torch.testing.assert_close(method.contrast(other(z), method.opposite(other(p))), loss, rtol=1e-4, atol=1e-5)
    assert method.opposite(p)[0].equal(p[N]) and method.opposite(p)[N + 1].equal(p[1])


def test_byol_is_2_minus_2_cos():
    method = small("byol")
    z, p = embeddings(), embeddings(seed=1)
    expected = np.mean([2 - 2 * cos(z[i], p[(i + N) % (2 * N)]) for i in range(2 * N)])
    assert method.contrast(z, method.opposite(p)).item() == pytest.approx(expected, rel=1e-5)
    assert method.contrast(z, z).item() == pytest.approx(0, abs=1e-6)
    assert method.contrast(z, -3 * z).item() == pytest.approx(4, rel=1e-6)


def test_byols_prediction_meets_the_targets_projection():
    method = small("byol")
    batch, given = BATCH, method.views
    seen = []
    method.views = lambda images, rng: seen.append(given(images, rng)) or seen[-1]
    torch.manual_seed(5)
    loss = method.losses(batch, RNG(0))["loss"]
    ((views, _),) = seen
    torch.manual_seed(5)
    t, n = method.networks["target"], method.networks
    z = t["projector"](t["encoder"](views))
    p = n["predictor"](n["projector"](n["encoder"](views)))
    torch.testing.assert_close(loss, method.contrast(z, other(p)))
    loss.backward()
    assert all(p.grad is None for p in t.parameters()) and n["encoder"].layers[0].weight.grad.abs().max() > 0


def test_moco_tells_the_key_from_the_queue():
    method = small("moco+queue=9+temperature=0.3")
    k, q, queue = normalize(embeddings(dim=64)), embeddings(dim=64, seed=1), method.queue
    total = 0.0
    for i in range(2 * N):
        positive = math.exp(cos(q[i], k[i]) / 0.3)
        total -= math.log(positive / (positive + sum(math.exp(cos(q[i], past) / 0.3) for past in queue)))
    assert method.contrast(k, q).item() == pytest.approx(total / (2 * N), rel=1e-5)


def test_ressl_compares_relations():
    method = small("ressl+queue=9+target_temperature=0.2+temperature=0.3")
    z, p, queue = normalize(embeddings(dim=64)), embeddings(dim=64, seed=1), method.queue
    total = 0.0
    for i in range(2 * N):
        label = np.exp([cos(z[i], past) / 0.2 for past in queue])
        student = np.exp([cos(p[i], past) / 0.3 for past in queue])
        total -= (label / label.sum()) @ np.log(student / student.sum())
    assert method.contrast(z, p).item() == pytest.approx(total / (2 * N), rel=1e-4)


def test_ressls_teacher_sees_weak_views():
    method = build(
        f"ressl+augment.color_jitter=1+augment.crop_scale=1+augment.grayscale=1+queue=9{SMALL}", task(np.arange(N))
    )
    images = method.task.batcher.batch(BATCH, RNG(0))
    weak, strong = method.views(images, RNG(0))
    torch.testing.assert_close(weak.amax(dim=(1, 2, 3))[:N], images.amax(dim=(1, 2, 3)), rtol=0.2, atol=0.2)
    assert (
        (strong - strong.mean(dim=1, keepdim=True)).abs().max()
        < 1e-5
        < (weak - weak.mean(dim=1, keepdim=True)).abs().max()
    )


def test_lmcl_adds_polarization_to_info_nce():
    z = embeddings()
    plain, more, most = (small(f"lmcl+polarization={weight}").contrast(z, other(z)) for weight in (0, 1, 3))
    torch.testing.assert_close(plain, two_view_contrast(z, candidates(N, "both_views", CPU), 0.5))
    torch.testing.assert_close(most - plain, 3 * (more - plain))
    assert more > plain
    narrow = small("lmcl+far=0.5+near=0.2").contrast(z, other(z))
    torch.testing.assert_close(narrow - plain, distance_polarization(z, 0.2, 0.5))


def test_dcl_and_barlow_twins_have_the_weights_of_their_settings():
    z = embeddings()
    dcl = small("dcl+class_prior=0.3+temperature=0.4").contrast(z, other(z))
    against = negatives(z, "both_views", 0.4)
    torch.testing.assert_close(dcl, debiased_contrast(cosine(z, other(z)) / 0.4, against, 0.3, 0.4).mean())
    barlow_twins = small("barlow_twins+redundancy=0.3")
    barlow_twins.two_views = lambda batch, rng: z
    torch.testing.assert_close(barlow_twins.losses(BATCH, RNG(0))["loss"], redundancy(z[:N], z[N:], 0.3))


def test_lmcls_margin_must_not_be_empty():
    with pytest.raises(ValueError, match=r"near=0\.9 must be below far=0\.5"):
        small("lmcl+far=0.5+near=0.9")


def test_relic_adds_nothing_where_both_views_are_alike():
    first = embeddings(N)
    alike, unlike = torch.cat([first, first]), embeddings()
    plain, relic = small("relic+invariance=0+temperature=0.3"), small("relic+invariance=2+temperature=0.3")
    torch.testing.assert_close(relic.contrast(alike, other(alike)), plain.contrast(alike, other(alike)))
    scores = np.array([[cos(a, b) / 0.3 for b in unlike[N:]] for a in unlike[:N]])
    p, q = (np.exp(s) / np.exp(s).sum(axis=1, keepdims=True) for s in (scores, scores.T))
    divergence = ((p - q) * np.log(p / q)).sum() / N / 2
    difference = relic.contrast(unlike, other(unlike)) - plain.contrast(unlike, other(unlike))
    assert difference.item() == pytest.approx(2 * divergence, rel=1e-4)


def test_ssl_hsic_of_collapsed_embeddings_is_zero_and_of_told_apart_ones_below():
    method = small("ssl_hsic+gamma=0")
    same, apart = torch.ones(2 * N, 8), torch.eye(N, 8).repeat(2, 1)
    assert method.contrast(same, same).item() == pytest.approx(0, abs=1e-6)
    expected = -(1 - 1 / N) * (1 - 1 / math.sqrt(3))  # kernels: 1 within a sample, 1 / sqrt(1 + 2) between
    assert method.contrast(apart, apart).item() == pytest.approx(expected, rel=1e-5)
    width, c = 0.5, 0.5 / math.sqrt(0.25 + 2)  # HSIC(Z, Z): eigenvalues 2 (1 - c) of N - 1 centered directions
    expected = -(1 - 1 / N) * (1 - c) + 3 * 2 * (1 - c) * math.sqrt(N - 1) / (2 * N - 1)
    found = small(f"ssl_hsic+gamma=3+kernel={width}").contrast(apart, apart)
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_ssl_hsic_compares_the_target_of_each_view_with_the_prediction_from_the_other():
    method, z, p = small("ssl_hsic+gamma=2+kernel=0.5"), embeddings(), embeddings(seed=1)

    def kernel(a, b):
        return np.array([[0.5 / math.sqrt(0.25 + 2 - 2 * cos(x, y)) for y in b] for x in a])

    across, among, centered = kernel(z, p), kernel(p, p), np.eye(2 * N) - 1 / (2 * N)
    dependence = np.mean([across[i, (i + N) % (2 * N)] for i in range(2 * N)]) - across.mean()
    among = np.trace(among @ centered @ among @ centered) / (2 * N - 1) ** 2
    found = method.contrast(z, method.opposite(p)).item()
    assert found == pytest.approx(-dependence + 2 * math.sqrt(among), rel=1e-4)


def test_wmse_whitens_slices_of_each_view():
    settings = "batch_size=13+epsilon=0.2+projector_dim=3+slice=6+slicings=2"
    method = build(f"wmse+{settings}{SMALL}", task(np.arange(13) % 2))
    views = embeddings(26, 3)
    method.two_views = lambda batch, rng: views
    rng, expected = RNG(4), []
    for rows in [rows for order in (rng.permutation(13), rng.permutation(13)) for rows in (order[:6], order[6:12])]:
        first, second = whiten(views[rows], 0.2), whiten(views[13 + rows], 0.2)
        expected += [2 - 2 * cos(a, b) for a, b in zip(first, second, strict=True)]
    assert method.losses(np.arange(13), RNG(4))["loss"].item() == pytest.approx(np.mean(expected), rel=1e-4)


def test_slices_must_be_larger_than_embeddings():
    with pytest.raises(ValueError, match="slice=6 of a batch must be more than the 64 numbers"):
        small("wmse")


# CMC


def test_cmcs_views_are_lightness_and_color():
    method = small("cmc")
    encoder = method.networks["encoder"].eval()
    images = method.task.batcher.batch(BATCH, RNG(0))
    gray = images.mean(dim=1, keepdim=True).expand(-1, 3, -1, -1)
    h, of_gray = encoder(images), encoder(gray)
    c = method.channels
    assert h.shape == (N, 2 * c) and encoder.dim == 2 * c == method.dim
    # gray has no color
    assert (of_gray[:, c:] - of_gray[:1, c:]).abs().max() < 1e-4 < (h[:, c:] - h[:1, c:]).abs().max()
    assert (of_gray[:, :c] - of_gray[:1, :c]).abs().max() > 1e-4
    _, positives = method.represent(*[lab((images + 1) / 2)] * 2)
    torch.testing.assert_close(positives, torch.cat([h[:, :c], h[:, c:]]))


def test_cmcs_views_have_projectors_of_their_own():
    method = small("cmc")
    h = embeddings(dim=method.channels)
    method.networks.eval()
    first, second = method.networks["projector"]
    torch.testing.assert_close(method.positive(h), torch.cat([first(h[:N]), second(h[N:])]))
    torch.testing.assert_close(
        method.positive(torch.stack([h, 2 * h]))[1], torch.cat([first(2 * h[:N]), second(2 * h[N:])])
    )


# Target networks


def test_a_cosine_begins_where_the_warmup_ends():
    """As in google-research/simclr, model_util.py."""
    of = small("simclr+batch_size=3+decay=cosine+epochs=10+warmup=4")
    assert of.steps_per_epoch == 2  # 20 steps, of which 16 after the warm-up
    found = [of.lr_factor(step / 2) for step in range(20)]
    cosine = [(1 + math.cos(math.pi * step / 16)) / 2 for step in range(16)]
    np.testing.assert_allclose(found, [1 / 4, 2 / 4, 3 / 4, 1, *cosine])


def test_cosine_momentum_rises_from_ema_to_1():
    method = small("byol+ema=0.9+epochs=8")
    expected = {0: 0.9, 2: 1 - 0.1 * (math.cos(math.pi / 4) + 1) / 2, 4: 0.95, 8: 1.0}
    for epoch, momentum in expected.items():
        method.set_learning_rate(epoch)
        assert method.momentum() == pytest.approx(momentum)
    method = small("moco+ema=0.9+epochs=8+queue=9")
    method.set_learning_rate(7)
    assert method.momentum() == pytest.approx(0.9)


@pytest.mark.parametrize("name", ["byol+ema=0.6", "moco+ema=0.6+queue=9", "ressl+ema=0.6+queue=9", "byol_msr+ema=0.6"])
def test_targets_follow_what_was_learned_step_by_step(name):
    method = small(name)
    names = [
        f"{part}.{key}" for part in ("encoder", "projector") for key, _ in method.networks[part].named_parameters()
    ]
    before = {key: p.detach().clone() for key, p in method.networks.named_parameters()}
    assert all(torch.equal(before[key], before[f"target.{key}"]) for key in names)
    method.set_learning_rate(0)
    method.step(BATCH, RNG(0))
    now = dict(method.networks.named_parameters())
    assert all(module.training for module in method.networks["target"].modules()), "statistics of its own"
    for key in names:
        torch.testing.assert_close(now[f"target.{key}"], 0.6 * before[key] + 0.4 * now[key])
    assert any(not torch.equal(before[key], now[key]) for key in names)


def test_queues_hold_the_latest_keys():
    method = small("moco+queue=30", count=12)
    assert method.queue.shape == (30, 64)
    torch.testing.assert_close(method.queue.norm(dim=1), torch.ones(30))
    start, keys = method.queue.clone(), []
    for step in range(3):
        method.step(np.arange(12) if step < 2 else BATCH, RNG(step))
        keys.insert(0, method.latest.clone())
        assert method.queue.equal(torch.cat([*keys, start])[:30])
    assert not any(key.requires_grad for key in keys)


# SwAV


def test_swav_predicts_codes_of_the_other_view():
    method = small("swav+epsilon=0.3+iterations=1+prototypes=3+temperature=0.2")
    z = normalize(embeddings(dim=64))
    scores = (z @ method.networks["prototypes"].weight.T).detach().numpy()
    total = 0.0
    for view in (slice(0, N), slice(N, 2 * N)):
        code = np.exp(scores[view] / 0.3)
        code /= code.sum(axis=0)
        code /= code.sum(axis=1, keepdims=True)
        prediction = np.exp(np.roll(scores, N, axis=0)[view] / 0.2)
        total -= (code * np.log(prediction / prediction.sum(axis=1, keepdims=True))).sum()
    assert method.contrast(z, other(z)).item() == pytest.approx(total / (2 * N), rel=1e-4)


def test_prototypes_have_length_1_and_stay_in_the_first_epoch():
    method = small("swav+frozen_epochs=1+learning_rate=0.1+prototypes=3+warmup=0")
    weight = method.networks["prototypes"].weight
    start = weight.detach().clone()
    torch.testing.assert_close(weight.norm(dim=1), torch.ones(3))
    method.set_learning_rate(0.5)
    method.step(BATCH, RNG(0))
    torch.testing.assert_close(weight, start)
    method.set_learning_rate(1.0)
    method.step(BATCH, RNG(1))
    assert (weight - start).abs().max() > 1e-3
    torch.testing.assert_close(weight.norm(dim=1), torch.ones(3))


# History


def test_two_stages_are_logged_each_by_its_own_steps(tmp_path):
    """The history's mean of what only one stage returns is over the steps of that stage."""
    of = build(f"simclr_msr+batch_size=4+epochs=1{SMALL}", task(np.arange(12) % 2))
    seen, step = {}, of.step

    def watched(batch, rng):
        losses = step(batch, rng)
        for name, value in losses.items():
            seen.setdefault(name, []).append(value.item())
        return losses

    of.step = watched
    history = Trainer(of, "key", lambda of: {}, Machine(CPU), tmp_path / "run.pt").run().history
    found = {row["name"]: row["value"] for row in history}
    assert {name: len(values) for name, values in seen.items()} == {
        "loss": 6,
        "contrast": 3,
        "msr": 3,
        "look_ahead": 3,
        "uniformity": 3,
    }
    for name, values in seen.items():
        assert found[name] == pytest.approx(np.mean(values))
