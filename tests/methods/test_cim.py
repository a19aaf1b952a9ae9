"""CIM: structural distance, triplets, bottleneck, and the way to the prediction."""

import math

import numpy as np
import pytest
import torch
from helpers import CPU, build, images, task
from torch.distributions import Normal, kl_divergence
from torch.nn.functional import cross_entropy

from despur.compute.input_batcher import InputBatcher
from despur.compute.task import Task, encode
from despur.losses import similarity
from despur.methods import cim
from despur.specs.declarations import list_components
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError

RNG = np.random.default_rng
NAME = "cim+beta=0.01+lambda=0.1+latent=16"


@pytest.fixture
def method():
    return build(NAME, task(np.arange(12) % 3))


def pictures(count=4, seed=0):
    return torch.rand(count, 3, 32, 32, generator=torch.Generator().manual_seed(seed)) * 2 - 1


def test_kl_is_that_of_the_distributions():
    mean, deviation = torch.tensor([[0.0, 1.0], [-2.0, 0.5]]), torch.tensor([[1.0, 0.5], [0.1, 3.0]])
    torch.testing.assert_close(
        cim.kl_to_standard_normal(mean, deviation), kl_divergence(Normal(mean, deviation), Normal(0.0, 1.0))
    )
    assert cim.kl_to_standard_normal(torch.zeros(1, 1), torch.ones(1, 1)).item() == 0
    assert cim.kl_to_standard_normal(torch.tensor([[1.0]]), torch.tensor([[2.0]])).item() == pytest.approx(
        2 - math.log(2)
    )


def test_the_network_of_the_spread_computes_log_variances(method):
    encoder = method.networks["encoder"]
    torch.nn.init.zeros_(encoder.spread.weight)
    torch.nn.init.constant_(encoder.spread.bias, math.log(9))
    _, deviation = encoder.distribution(method.task.batcher.batch(np.arange(3), np.random.default_rng(0)))
    torch.testing.assert_close(deviation, torch.full_like(deviation, 3.0))


def slow_scale(x, y, window):
    """SSIM and its contrast-structure part of two images (H,W) in [0,1], pixel by pixel of a Gaussian window of sigma
    1.5."""
    axis = np.exp(-((np.arange(window) - window // 2) ** 2) / 4.5)
    weight = np.outer(axis, axis) / axis.sum() ** 2
    full, contrast = [], []
    for i in range(len(x) - window + 1):
        for j in range(len(x) - window + 1):
            a, b = x[i : i + window, j : j + window], y[i : i + window, j : j + window]
            ma, mb = (weight * a).sum(), (weight * b).sum()
            va, vb, cov = (
                (weight * (a - ma) ** 2).sum(),
                (weight * (b - mb) ** 2).sum(),
                (weight * (a - ma) * (b - mb)).sum(),
            )
            contrast.append((2 * cov + 0.03**2) / (va + vb + 0.03**2))
            full.append((2 * ma * mb + 0.01**2) / (ma**2 + mb**2 + 0.01**2) * contrast[-1])
    return np.mean(full), np.mean(contrast)


def test_structural_distance_is_one_minus_ms_ssim():
    """Two scales on one gray channel, computed pixel by pixel."""
    x = (pictures(1)[:, :1, :16, :16] * 0.3 + torch.linspace(-0.5, 0.5, 16)).clamp(-1, 1)
    y = (x + 0.2 * pictures(1, seed=3)[:, :1, :16, :16]).clamp(-1, 1)
    fine = [(image[0, 0].double().numpy() + 1) / 2 for image in (x, y)]
    coarse = [image.reshape(8, 2, 8, 2).mean(axis=(1, 3)) for image in fine]
    weights = np.array(similarity.SCALE_WEIGHTS[:2]) / sum(similarity.SCALE_WEIGHTS[:2])
    expected = slow_scale(*fine, 5)[1] ** weights[0] * slow_scale(*coarse, 5)[0] ** weights[1]
    assert similarity.structural_distance(x, y, 5, 2).item() == pytest.approx(1 - expected, abs=1e-5)


def test_structural_distance_has_finite_gradients_where_similarity_is_negative():
    left = pictures().requires_grad_()
    distance = similarity.structural_distance(left, -left.detach(), 7, 3)
    assert distance.sum().item() == pytest.approx(4)
    assert torch.autograd.grad(distance.sum(), left)[0].isfinite().all()


@pytest.mark.parametrize("seed", range(5))
def test_triplets_pair_within_and_across_classes(seed):
    torch.manual_seed(seed)
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    anchors, positives, negatives = similarity.triplets(labels)
    assert anchors.tolist() == [0, 1, 2, 3, 4]  # 5 has no other of its class
    assert (labels[positives] == labels[anchors]).all() and (positives != anchors).all()
    assert (labels[negatives] != labels[anchors]).all()


def test_triplets_reach_every_candidate():
    labels, seen = torch.tensor([0, 0, 0, 1, 1, 2]), set()
    for seed in range(60):
        torch.manual_seed(seed)
        _, positives, negatives = similarity.triplets(labels)
        seen |= {("positive", int(positives[0])), ("negative", int(negatives[0]))}
    assert seen == {*(("positive", i) for i in (1, 2)), *(("negative", i) for i in (3, 4, 5))}


def test_no_triplets_in_a_batch_of_one_class(method):
    assert len(similarity.triplets(torch.zeros(4, dtype=torch.int64))[0]) == 0
    assert method.losses(np.array([0, 3, 6]), RNG(0))["triplet"].item() == 0


@pytest.mark.parametrize(("margin", "expected"), [(1.0, (0.9 + 1.4) / 2), (0.0, (0.0 + 0.4) / 2)])
def test_triplet_loss_by_hand(monkeypatch, margin, expected):
    """One anchor nearer to its positive (.2 against .3), one farther from it (.8 against .4)."""
    method = build(f"cim+margin={margin}", task(np.arange(12) % 3))
    monkeypatch.setattr(cim, "triplets", lambda labels: tuple(torch.tensor(rows) for rows in ([0, 1], [2, 3], [1, 2])))
    distances = {(0, 2): 0.2, (1, 3): 0.8, (0, 1): 0.3, (1, 2): 0.4}

    def distance(left, right, window, scales):
        assert (window, scales) == (7, 3)
        return torch.tensor(
            [distances[int(a), int(b)] for a, b in zip(left[:, 0, 0, 0], right[:, 0, 0, 0], strict=True)]
        )

    monkeypatch.setattr(cim, "structural_distance", distance)
    changed = torch.arange(4.0).view(4, 1, 1, 1).expand(4, 3, 32, 32)
    assert method.triplet(changed, torch.zeros(4)).item() == pytest.approx(expected)


def test_triplet_loss_trains_the_transformation_alone(method):
    changed = method.networks["encoder"].transformation(method.task.batcher.batch(np.arange(12), RNG(0)))
    torch.manual_seed(0)
    method.triplet(changed, method.task.labels.values).backward()
    moved = {
        name
        for name, weight in method.networks.named_parameters()
        if weight.grad is not None and weight.grad.abs().sum() > 0
    }
    assert moved and all("transformation" in name for name in moved)


@pytest.mark.parametrize("side", [32, 30])
def test_transformation_starts_as_identity_and_stays_an_image(side):
    network, shown = cim.Transformation(3, 4), pictures()[:, :, :side, :side]
    assert torch.equal(network(shown), shown)
    torch.nn.init.normal_(network.layers[-1].weight)
    changed = network(shown)
    assert changed.shape == shown.shape and changed.abs().max() <= 1 and not torch.equal(changed, shown)


def test_prediction_takes_the_mean_of_transformed_images(method):
    encoder, head = method.networks["encoder"], method.networks["head"]
    torch.nn.init.normal_(encoder.transformation.layers[-1].weight, std=0.1)
    shown = method.task.batcher
    found = encode(encoder, head, shown, RNG(0))
    x = shown.batch(np.arange(12), RNG(0))
    mean, _ = encoder.distribution(encoder.transformation(x))
    np.testing.assert_allclose(found["z"], mean.detach(), atol=1e-3)
    np.testing.assert_allclose(found["logits"], head(mean).detach(), atol=1e-3)
    assert found["z"].shape == (12, 16) and encoder.dim == 16
    assert not torch.allclose(encoder.backbone(x), encoder.backbone(encoder.transformation(x)))
    assert (encode(encoder, head, shown, RNG(1))["z"] == found["z"]).all()  # nothing is drawn


def test_training_draws_the_latent_around_its_mean(method):
    encoder = method.networks["encoder"]

    def cross(seed):
        torch.manual_seed(seed)
        return method.losses(np.arange(12), RNG(0))["cross_entropy"].item()

    torch.nn.init.constant_(encoder.spread.bias, 6.0)
    assert cross(0) == cross(0) != cross(1)
    torch.nn.init.zeros_(encoder.spread.weight)
    torch.nn.init.constant_(encoder.spread.bias, -60.0)  # no spread: the mean
    logits = method.networks["head"](encoder(method.task.batcher.batch(np.arange(12), RNG(0))))
    assert cross(0) == pytest.approx(cross_entropy(logits, method.task.labels.values).item(), rel=1e-5)


@pytest.mark.parametrize(("kl", "times"), [("mean", 1), ("sum", 16)])
def test_loss_weighs_bottleneck_by_beta_and_triplets_by_lambda(kl, times):
    method = build(f"cim+beta=0.01+kl={kl}+lambda=0.1+latent=16" if kl == "sum" else NAME, task(np.arange(12) % 3))
    torch.manual_seed(0)
    found = method.losses(np.arange(12), RNG(0))
    encoder = method.networks["encoder"]
    mean, deviation = encoder.distribution(encoder.transformation(method.task.batcher.batch(np.arange(12), RNG(0))))
    assert found["kl"].item() == pytest.approx(
        times * cim.kl_to_standard_normal(mean, deviation).mean().item(), rel=1e-5
    )
    assert min(found["kl"].item(), found["triplet"].item()) > 0
    total = found["cross_entropy"] + 0.01 * found["kl"] + 0.1 * found["triplet"]
    assert found["loss"].item() == pytest.approx(total.item(), rel=1e-6)


def test_only_images():
    embeddings = Task(InputBatcher(torch.randn(6, 10)), np.arange(6) % 2, 2, CPU)
    with pytest.raises(SettingError, match=r"cim changes images; inputs of shape \(10,\) are not images"):
        build("cim", embeddings)


@pytest.mark.parametrize("name", ["cim+scales=5", "cim+window=11", "cim+window=8"])
def test_scales_and_window_must_fit(name):
    with pytest.raises(SettingError, match="images of"):
        build(name, task(np.arange(4) % 2))


def test_a_finished_model_can_be_built_without_its_task(method):
    fresh = cim.CIM.build_networks(resolve("methods", "cim+latent=16").points[0], (3, 32, 32), 3)
    fresh.load_state_dict(method.networks.state_dict())
    assert "cim" in list_components("methods")
    shown = InputBatcher(torch.from_numpy(images(5)), 32)
    assert (encode(fresh["encoder"], fresh["head"], shown, RNG(0))["logits"] != 0).any()
