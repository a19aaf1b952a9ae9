"""Methods without labels: what they contrast, which domains they see, and what a run keeps of them."""

import copy
import json
import math
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import build, finish_run, images, task, tiny_dataset, walk
from lookup import Lookup, gradient
from torch import nn

from despur.compute.input_batcher import InputBatcher
from despur.losses.discrepancy import mmd
from despur.losses.infonce import candidates, two_view_contrast
from despur.model import load
from despur.numerics import logistic
from despur.storage.containers import Container
from despur.storage.store import Dataset, save_dataset

RNG = np.random.default_rng
N, DIM = 12, 4
DOMAIN = np.arange(N) % 3 % 2  # 0 1 0 0 1 0 ...
BATCH = np.array([3, 1, 4, 10, 5, 9])
METHODS = ("simclr", "same_domain_negatives", "cl_mmd", "cl_dann", "domain_weighted_negatives", "domain_weighted_pairs")


def tabled(name, seed=0, scale=2.0):
    """A method whose embeddings of both views of sample i are rows i and N + i of a table."""
    method = build(name, task(np.arange(N) % 2, DOMAIN))
    method.networks["encoder"] = Lookup(scale * RNG(seed).normal(size=(2 * N, DIM)))
    method.task.batcher = InputBatcher(torch.arange(N, dtype=torch.float32)[:, None])
    method.augment = lambda rows, rng: rows + N * (torch.arange(len(rows)) >= len(rows) // 2)[:, None]
    for kind in {"domain", "discriminator"} & set(method.networks):
        torch.manual_seed(seed)
        method.networks[kind] = nn.Linear(DIM, 2).requires_grad_(kind == "domain")
    method.optimizer = method.build_optimizer()
    return method


def shown(method):
    """Embeddings and domains of both views of the batch."""
    return method.networks["encoder"].values[np.concatenate([BATCH, N + BATCH])], torch.from_numpy(
        np.tile(DOMAIN[BATCH], 2)
    )


@pytest.mark.parametrize("negatives", ["other_view", "both_views"])
def test_simclr_contrasts_the_two_views(negatives):
    method = tabled(f"simclr+negatives={negatives}+temperature=0.4")
    z, _ = shown(method)
    expected = two_view_contrast(z, candidates(len(BATCH), negatives, z.device), 0.4)
    torch.testing.assert_close(method.losses(BATCH, RNG(0))["loss"], expected)


def test_negatives_of_other_domains_are_masked():
    method = tabled("same_domain_negatives+temperature=0.4")
    z, domain = shown(method)
    total, n = 0.0, len(BATCH)
    unit = (z / z.norm(dim=1, keepdim=True)).detach()
    for i in range(2 * n):
        other = (i + n) % (2 * n)
        compared = [j for j in range(2 * n) if (i < n) != (j < n) and domain[j] == domain[i]]
        assert other in compared and len(compared) < n
        terms = {j: math.exp(float(unit[i] @ unit[j]) / 0.4) for j in compared}
        total -= math.log(terms[other] / sum(terms.values()))
    assert method.losses(BATCH, RNG(0))["loss"].item() == pytest.approx(total / (2 * n), rel=1e-5)


def test_an_anchor_alone_of_its_domain_learns_nothing():
    method = tabled("same_domain_negatives")
    alone = np.array([0, 1])
    assert DOMAIN[alone].tolist() == [0, 1]
    loss = method.losses(alone, RNG(0))["loss"]
    assert loss.item() == 0 and (gradient(method, loss) == 0).all()


def test_two_views_of_one_sample_are_no_independent_draws():
    """With domains drawn alike the discrepancy is zero within its error, however alike the views of a sample are."""
    method, found = tabled("cl_mmd"), []
    domain = torch.arange(64) % 2
    method.domain, batch = domain, np.arange(64)
    for seed in range(60):
        z = torch.from_numpy(RNG(seed).normal(size=(64, 4)).astype(np.float32))
        method.two_views = lambda batch, rng, z=z: torch.cat([z, z + 0.1])
        found.append(method.losses(batch, RNG(0))["mmd"].item())
    assert abs(np.mean(found)) < 3 * np.std(found) / np.sqrt(60)


def test_mmd_is_added_with_its_weight():
    method = tabled("cl_mmd+kernels=3+temperature=0.4+weight=0.7")
    z, domain = shown(method)
    losses = method.losses(BATCH, RNG(0))
    discrepancy = (
        mmd(z[: len(BATCH)], domain[: len(BATCH)], 2, 3) + mmd(z[len(BATCH) :], domain[len(BATCH) :], 2, 3)
    ) / 2
    contrast = two_view_contrast(z, candidates(len(BATCH), "other_view", z.device), 0.4)
    assert abs(discrepancy.item()) > 1e-3
    torch.testing.assert_close(losses["loss"], contrast + 0.7 * discrepancy)
    torch.testing.assert_close([losses["info_nce"], losses["mmd"]], [contrast, discrepancy])


@pytest.mark.parametrize("weight", [0.5, 2])
def test_dann_unlearns_domains_while_its_classifier_learns_them(weight):
    method = tabled(f"cl_dann+temperature=0.4+weight={weight}")
    z, domain = shown(method)
    losses = method.losses(BATCH, RNG(0))
    contrast = two_view_contrast(z, candidates(len(BATCH), "other_view", z.device), 0.4)
    domains = nn.functional.cross_entropy(method.networks["domain"](z), domain)
    assert gradient(method, domains).abs().max() > 1e-3
    torch.testing.assert_close(
        gradient(method, losses["loss"]), gradient(method, contrast) - weight * gradient(method, domains)
    )
    ours, theirs = (
        torch.autograd.grad(loss, list(method.networks["domain"].parameters())) for loss in (losses["loss"], domains)
    )
    torch.testing.assert_close(ours, theirs)


def test_danns_strength_is_constant_unless_it_ramps():
    assert tabled("cl_dann+weight=0.3").strength() == pytest.approx(0.3)
    ramping = tabled("cl_dann+batch_size=5+epochs=4+ramp=10+weight=2")  # 2 steps an epoch
    assert ramping.strength() == 0
    ramping.steps_done = 4
    assert ramping.strength() == pytest.approx(2 * (2 / (1 + math.exp(-5)) - 1))


@pytest.mark.parametrize(("size", "batches", "each"), [(5, 2, 5), (12, 1, 12), (100, 1, 12)])
def test_an_epoch_has_whole_batches_of_different_samples(size, batches, each):
    method = build(f"simclr+batch_size={size}", task(np.arange(N) % 2))
    found = list(method.epoch_batches(RNG(0)))
    assert [len(batch) for batch in found] == [each] * batches and method.steps_per_epoch == batches
    assert len(set(np.concatenate(found))) == batches * each
    assert (np.concatenate(found) != np.concatenate(list(method.epoch_batches(RNG(1))))).any()


@pytest.mark.parametrize(("kind", "layers", "dim"), [("none", 0, 16), ("linear", 1, 8), ("mlp", 2, 8)])
def test_projectors_stand_between_representation_and_loss(kind, layers, dim):
    method = build(f"domain_weighted_pairs+projector={kind}+projector_dim=8", task(np.arange(N) % 2, DOMAIN))
    assert sum(isinstance(layer, nn.Linear) for layer in method.networks["projector"].modules()) == layers
    z = method.two_views(BATCH, RNG(0))
    assert z.shape == (2 * len(BATCH), dim)
    losses = method.step(BATCH, RNG(0))
    assert torch.isfinite(losses["loss"])


# The domain-weighted methods


@pytest.mark.parametrize("name", ["domain_weighted_negatives", "domain_weighted_pairs"])
@pytest.mark.parametrize("negatives", ["other_view", "both_views"])
def test_domain_weighted_losses_are_eq_4(name, negatives):
    settings = "+tau_alpha=0.3+tau_beta=0.8+tau_min=0.05"
    method = tabled(f"{name}+negatives={negatives}{settings}", scale=0.7)
    z, domain = shown(method)
    p = method.networks["discriminator"](z).softmax(dim=1).detach()
    total, n, clipped = 0.0, len(BATCH), 0
    z = z.detach()
    for i in range(2 * n):
        other, terms = (i + n) % (2 * n), {}
        for j in range(2 * n):
            if j == i or (negatives == "other_view" and (i < n) == (j < n)):
                continue
            w = float(p[j, domain[i]]) if name.endswith("negatives") else float(p[i] @ p[j])
            tau = 0.3 if j == other else max(0.3 + 0.8 * (0.5 - w), 0.05)
            clipped += tau == 0.05
            terms[j] = math.exp(float(z[i] @ z[j] / z[i].norm() / z[j].norm()) / tau)
        total -= math.log(terms[other] / sum(terms.values()))
    assert method.losses(BATCH, RNG(0))["loss"].item() == pytest.approx(total / (2 * n), rel=1e-4)
    assert clipped < 2 * n


def test_no_gradient_reaches_the_encoder_through_temperatures():
    method = tabled("domain_weighted_pairs+tau_alpha=0.3")
    z, domain = shown(method)
    tau = method.temperature(z, domain, torch.arange(2 * len(BATCH)).roll(len(BATCH)))
    assert not tau.requires_grad
    expected = two_view_contrast(z, candidates(len(BATCH), "other_view", z.device), tau)
    torch.testing.assert_close(gradient(method, method.losses(BATCH, RNG(0))["loss"]), gradient(method, expected))


def test_same_domain_pairs_are_colder():
    method = tabled("domain_weighted_pairs+tau_alpha=0.3+tau_beta=0.2")
    with torch.no_grad():
        method.networks["encoder"].values[:, 0] = torch.from_numpy(np.tile(6.0 * DOMAIN - 3, 2))
    z, domain = shown(method)
    method.fit_discriminator(z.detach(), domain)
    tau = method.temperature(z, domain, torch.arange(2 * len(BATCH)).roll(len(BATCH)))
    same = domain[:, None] == domain
    negative = ~torch.eye(len(BATCH), dtype=torch.bool).repeat(2, 2)
    assert (tau[same & negative] < 0.25).all() and (tau[~same] > 0.35).all()


def test_the_discriminator_has_the_penalty_asked_for():
    method = tabled("domain_weighted_pairs+penalty=0.5")
    z, domain = shown(method)
    with torch.no_grad():
        method.fit_discriminator(z, domain)
    expected = logistic.fit(z, domain, 2, 0.5)
    torch.testing.assert_close(tuple(method.networks["discriminator"].parameters()), expected)


def test_a_global_discriminator_is_fitted_on_all_samples_at_the_start_of_each_epoch():
    method = build("domain_weighted_pairs+batch_size=4", task(np.arange(N) % 2, DOMAIN))
    fitted, fit = [], method.fit_discriminator
    method.fit_discriminator = lambda z, domain: (fitted.append((method.networks.training, z, domain)), fit(z, domain))
    before = method.embed(method.task.batcher.batch(np.arange(N), RNG(0)))
    for _, batch in walk(method, 2):
        method.step(batch, RNG(0))
    assert len(fitted) == 2 and len(before) == N
    for training, z, domain in fitted:
        assert not training and z.shape == (N, 16) and not z.requires_grad and (domain.numpy() == DOMAIN).all()
    assert not torch.equal(fitted[0][1], fitted[1][1])


def test_a_global_discriminator_can_be_fitted_on_views_in_training_mode():
    method = build("domain_weighted_pairs+encoder=convnet+fit_on=views", task(np.arange(N) % 2, DOMAIN))
    fitted, augmented, augment = [], [], method.augment
    method.fit_discriminator = lambda z, domain: fitted.append((method.networks.training, z, domain))
    method.augment = lambda images, rng: augmented.append(augment(images, rng)) or augmented[-1]
    before = copy.deepcopy(method.networks.state_dict())
    torch.manual_seed(0)
    method.fit_on_all(RNG(1))
    ((training, z, domain),) = fitted
    assert training and (domain.numpy() == DOMAIN).all() and len(torch.cat(augmented)) == N
    assert all(torch.equal(value, before[name]) for name, value in method.networks.state_dict().items())
    torch.manual_seed(0)
    with torch.no_grad():
        torch.testing.assert_close(z, method.embed(torch.cat(augmented)))


def test_a_batch_discriminator_is_fitted_on_both_views_of_each_batch():
    method = build("domain_weighted_pairs+batch_size=4+discriminator=batch", task(np.arange(N) % 2, DOMAIN))
    fitted, fit = [], method.fit_discriminator
    method.fit_discriminator = lambda z, domain: (fitted.append((z, domain)), fit(z, domain))
    batches = list(method.epoch_batches(RNG(0)))
    for batch in batches:
        method.step(batch, RNG(0))
    assert len(fitted) == 3
    for batch, (z, domain) in zip(batches, fitted, strict=True):
        assert z.shape == (8, 16) and not z.requires_grad and (domain.numpy() == np.tile(DOMAIN[batch], 2)).all()


def test_temperatures_are_reported_as_percentiles_of_negative_pairs():
    method = tabled("domain_weighted_negatives+tau_alpha=0.3")
    z, domain = shown(method)
    n = len(BATCH)
    tau = method.temperature(z, domain, torch.arange(2 * n).roll(n)).numpy()
    pairs = [tau[i, j] for i in range(2 * n) for j in range(2 * n) if (i < n) != (j < n) and (i - j) % n]
    found = method.losses(BATCH, RNG(0))["temperature"]
    np.testing.assert_allclose(found, np.percentile(pairs, np.arange(101)), rtol=1e-5)


# Whole runs


def domain_dataset(test_seed=0):
    """Small made-up data with domains; only the images of test_ood depend on ``test_seed``."""
    table = tiny_dataset(48, 12).table.iloc[:72].copy()
    table["split"] = np.repeat(["train", "val", "test_id", "test_ood"], [36, 12, 12, 12])
    table["y"] = np.arange(72) % 2
    table["a"] = np.where(table["split"] == "val", 2, np.where(table["split"] == "test_ood", 3, np.arange(72) // 2 % 2))
    table["label_rank"] = np.where(table["split"] == "train", np.arange(72), -1)
    pixels = images(72, 24)
    pixels[60:] = images(12, 24, seed=test_seed + 1)
    names = {
        "classes": ["3", "5"],
        "attributes": ["red", "blue", "purple", "green"],
        "label_fractions": {"few": 6, "all": 36},
    }
    return Dataset(pixels, table, {"size": 24, "select": "val", "headline": "test_ood", **names})


def run(root, name, dataset):
    """Train and evaluate; where, and its metrics."""
    save_dataset(root / "data/domain_digits", {"domain_digits": dataset})
    where = finish_run(root, f"runs/domain_digits/{name}/s0")
    return where, pd.read_csv(where.folder / "metrics.csv", keep_default_na=False)


SMALL = "batch_size=12+encoder.width=4+epochs=3"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run on made-up data with domains: where, and its metrics; made once for all tests."""
    return cache(
        lambda name, test_seed=0: run(tmp_path_factory.mktemp("run"), f"{name}+{SMALL}", domain_dataset(test_seed))
    )


@pytest.mark.parametrize("name", METHODS)
def test_a_run_keeps_its_last_epoch_and_is_probed(name, finished):
    where, metrics = finished(name)
    (each,) = where.runs()
    outputs, models = (Container(where.folder / f"{kind}.safetensors") for kind in ("outputs", "models"))
    for selection in ("best", "last"):
        assert outputs.load_arrays(f"{each.key}/{selection}").keys() == {"z"}
        assert outputs[f"{each.key}/{selection}/z"].shape == (72, 16)
    best, last = (models.load_arrays(f"{each.key}/{selection}") for selection in ("best", "last"))
    assert all((best[key] == last[key]).all() for key in last) and "head.weight" not in last
    about = json.loads((where.folder / "about.json").read_text())["runs"][each.key]
    assert about["best_step"] == about["steps"] == 9 and about["training_images"] == 2 * 3 * 36
    history = pd.read_csv(where.folder / "history.csv")
    assert "loss" in set(history["name"]) and not history["name"].str.startswith("val_").any()
    last = metrics[metrics["selection"] == "last"].set_index(["split", "metric", "group"])["value"].astype(float)
    assert last.index.is_unique
    for split in ("val", "test_id", "test_ood"):
        assert {(split, "probe_accuracy", share) for share in ("few", "all")} <= set(last.index)
    assert ("test_id", "domain_accuracy", "") in last.index and ("test_ood", "domain_accuracy", "") not in last.index
    assert last["test_id", "samples", "3, red"] == 3


@pytest.mark.parametrize("name", ["domain_weighted_pairs", "domain_weighted_negatives"])
def test_temperatures_of_every_epoch_are_kept(name, finished):
    where, _ = finished(name)
    (each,) = where.runs()
    found = Container(where.folder / "outputs.safetensors")[f"{each.key}/diagnostics/temperature"]
    assert found.shape == (3, 101) and (np.diff(found, axis=1) >= 0).all()
    assert (found[0] != found[1]).any() and (found > 0).all()


@pytest.mark.parametrize("name", METHODS)
def test_the_test_domain_reaches_neither_training_nor_selection(name, finished):
    one, other = finished(name), finished(name, test_seed=1)
    weights = [
        Container(where.folder / "models.safetensors").load_arrays(where.runs()[0].key) for where, _ in (one, other)
    ]
    assert all((weights[0][key] == weights[1][key]).all() for key in weights[0])
    first, second = (metrics[metrics["split"] != "test_ood"] for _, metrics in (one, other))
    pd.testing.assert_frame_equal(first, second)
    assert not one[1].equals(other[1])


def test_a_loaded_model_gives_representations_and_says_that_it_predicts_nothing(finished):
    data, (where, _) = domain_dataset(), finished("simclr")
    model = load(where.folder)
    kept = Container(where.folder / "outputs.safetensors")[f"{where.runs()[0].key}/last/z"]
    np.testing.assert_allclose(model.outputs(data.inputs)["z"], kept, atol=1e-3)
    with pytest.raises(ValueError, match="no classifier"):
        model.predict(data.inputs)


def test_methods_with_labels_are_probed_too_where_shares_are_declared(tmp_path):
    _, metrics = run(tmp_path, "erm+epochs=1", domain_dataset())
    assert {"average_accuracy", "probe_accuracy", "domain_accuracy", "leakage_representations"} <= set(
        metrics["metric"]
    )
    undeclared = domain_dataset()
    del undeclared.about["label_fractions"]
    _, plain = run(tmp_path, "erm+epochs=1", undeclared)
    assert not plain["metric"].str.startswith(("probe", "domain")).any()
    _, free = run(tmp_path, f"simclr+{SMALL}", undeclared)
    assert set(free[free["metric"] == "probe_accuracy"]["group"]) == {"100%"}
