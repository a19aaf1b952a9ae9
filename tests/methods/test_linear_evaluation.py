"""How representations are judged: linear classifiers, nearest neighbors, fine-tuning, and whole runs of them on a
stage-1 model."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
import torch
from helpers import OPTIONS, build, embedded, finish_run, images, spec, task
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from torch import nn

from despur import saliency
from despur.compute.randomness import derive_generator
from despur.encoders import resnet18
from despur.metrics.codes import TOP_CLASSES, encode_logits
from despur.metrics.neighbors import predict_by_neighbors
from despur.model import load
from despur.samplers.labeled import label_ranks
from despur.specs.settings import SettingError
from despur.storage.containers import Container
from despur.storage.store import Dataset, save_dataset
from despur.training.inputs import load_method_class

RNG = np.random.default_rng


# Encoder


@torch.no_grad()
@pytest.mark.parametrize(("pool", "side"), [(False, 4), (True, 2)])
def test_resnet18_starts_with_small_kernels_and_pools_where_it_is_told_to(pool, side):
    torch.manual_seed(0)
    network = resnet18.build({"pool": pool}, (3, 32, 32)).eval()
    found = {}
    hook = network.layers.layer4.register_forward_hook(lambda module, inputs, output: found.update(maps=output))
    z = network(torch.rand(2, 3, 32, 32))
    hook.remove()
    assert found["maps"].shape == (2, 512, side, side) and network.dim == 512
    torch.testing.assert_close(z, found["maps"].mean(dim=(2, 3)))
    assert network.layers.conv1.weight.shape == (64, 3, 3, 3) and network.layers.conv1.stride == (1, 1)
    parameters = sum(parameter.numel() for parameter in network.parameters())
    # torchvision's, less its classifier and larger kernels
    assert parameters == 11_689_512 - 512 * 1000 - 1000 - 64 * 3 * (49 - 9)
    with pytest.raises(SettingError, match="three channels"):
        resnet18.build({"pool": pool}, (12,))


# Metrics


def test_neighbors_vote_as_a_slow_search_says():
    rng = RNG(0)
    train, test, y = rng.normal(size=(60, 4)), rng.normal(size=(25, 4)), rng.integers(0, 4, 60)
    for k in (1, 5):
        expected = []
        for point in test:
            nearest = sorted(range(60), key=lambda i: np.linalg.norm(train[i] - point))[:k]
            votes = Counter(y[nearest].tolist())
            expected.append(min(votes, key=lambda label: (-votes[label], label)))
        assert predict_by_neighbors(train, y, test, k).tolist() == expected
    assert predict_by_neighbors(train[:3], y[:3], test, 5).shape == (25,)


def is_in_top(k, logits, y):
    """Whether each class (N,) is among the ``k`` with the largest logits (N,C), one sample after the other."""
    return np.array([label in np.argsort(-row)[:k] for row, label in zip(logits, y, strict=True)])


def test_codes_tell_who_is_first_and_who_is_among_the_first_five():
    logits = RNG(0).normal(size=(50, 9))
    y = RNG(1).integers(0, 9, 50)
    codes = encode_logits(logits, y)
    assert ((codes == 0) == is_in_top(1, logits, y)).all()
    assert ((codes < TOP_CLASSES) == is_in_top(5, logits, y)).all()


# Methods


def test_the_learning_rate_of_the_linear_classifier_decays_exponentially_to_its_last():
    other = build("linear_classifier+epochs=20+last_rate=0.001", embedded(np.arange(20) % 2))
    assert other.lr_factor(20) == pytest.approx(0.001 / 0.01)
    method = build("linear_classifier", embedded(np.arange(20) % 2))
    assert method.settings["learning_rate"] * method.lr_factor(500) == pytest.approx(1e-6)
    rates = [method.lr_factor(epoch) for epoch in range(500)]
    assert method.lr_factor(3.9) == rates[3] and np.allclose(
        np.divide(rates[1:], rates[:-1]), (1e-6 / 1e-2) ** (1 / 500)
    )


def test_the_linear_classifier_trains_its_layer_alone_and_finds_the_optimum():
    of = embedded(np.arange(80) % 2)
    method = build("linear_classifier+batch_size=80+learning_rate=0.1+weight_decay=0.02", of)
    assert set(method.networks.state_dict()) == {"head.weight", "head.bias"}
    for epoch in range(1500):
        method.set_learning_rate(epoch / 3)
        for batch in method.epoch_batches(RNG(epoch)):
            loss = method.step(batch, RNG(0))["loss"]
    z = of.batcher.inputs.double()
    head = nn.Linear(z.shape[1], 2).double()
    optimizer = torch.optim.LBFGS(head.parameters(), max_iter=500, tolerance_grad=1e-12, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = nn.functional.cross_entropy(head(z), of.labels.values) + 0.01 * sum(
            p.square().sum() for p in head.parameters()
        )
        value.backward()
        return value

    optimizer.step(closure)
    with torch.no_grad():
        assert loss.item() == pytest.approx(nn.functional.cross_entropy(head(z), of.labels.values).item(), rel=1e-2)


def test_normalized_representations_have_length_one():
    of = embedded(np.arange(20) % 2)
    plain, unit = (build(f"linear_classifier{extra}", of).networks["encoder"] for extra in ("", "+normalise=true"))
    z = of.batcher.inputs
    assert torch.equal(plain(z), z)
    torch.testing.assert_close(unit(z), z / z.norm(dim=1, keepdim=True))


def test_the_logistic_classifier_is_scikit_learn_s_on_standardized_representations():
    of = embedded(np.arange(60) % 3)
    method = build("logistic_classifier+strength=0.2", of)
    method.fit(RNG(0))
    z = of.batcher.inputs.numpy()
    theirs = make_pipeline(StandardScaler(), LogisticRegression(C=0.2, max_iter=10_000, tol=1e-10)).fit(z, of.y)
    logits = method.networks["head"](method.networks["encoder"](of.batcher.inputs))
    np.testing.assert_allclose(logits.softmax(dim=1).detach(), theirs.predict_proba(z), atol=2e-3)


def started(of, name="fine_tuning+stage1.encoder.width=4"):
    """A fine-tuned method whose task holds the weights of another encoder."""
    torch.manual_seed(5)
    of.start = (
        load_method_class("simclr")
        .build_networks(spec("simclr+encoder.width=4"), of.batcher.shape, 2)["encoder"]
        .state_dict()
    )
    return build(name, of)


def test_fine_tuning_goes_on_from_the_given_weights_on_the_labels_that_come_first():
    of = task(np.arange(200) % 2)
    method = started(of)
    assert all(torch.equal(value, method.networks["encoder"].state_dict()[name]) for name, value in of.start.items())
    rank = label_ranks(derive_generator("fine_tuning/labels"), of.y)
    assert (method.labeled == np.flatnonzero(rank < 20)).all() and np.bincount(of.y[method.labeled]).tolist() == [
        10,
        10,
    ]
    assert sorted(np.concatenate(list(method.epoch_batches(RNG(0))))) == method.labeled.tolist()
    before = {name: value.clone() for name, value in method.networks.named_parameters()}
    method.step(next(iter(method.epoch_batches(RNG(0)))), RNG(0))
    assert all(
        not torch.equal(value, before[name])
        for name, value in method.networks.named_parameters()
        if value.grad.abs().max() > 0
    )
    assert method.networks["encoder"].layers[0].weight.grad.abs().max() > 0


def test_the_labels_of_fine_tuning_are_those_that_the_data_ranks_and_at_least_one_a_class():
    of = task(np.arange(40) % 2)
    of.label_rank = RNG(0).permutation(40)
    for fraction, count in ((0.1, 4), (0.12, 5)):  # 4.8 of 40
        method = started(of, f"fine_tuning+label_fraction={fraction}+stage1.encoder.width=4")
        assert set(method.labeled) == set(np.flatnonzero(of.label_rank < count))
    assert len(started(of, "fine_tuning+label_fraction=0.001+stage1.encoder.width=4").labeled) == 2


def test_fine_tuning_shows_augmented_images_in_batches_of_the_size_asked_for_or_more():
    method = started(task(np.arange(200) % 2), "fine_tuning+batch_size=6+stage1.encoder.width=4")
    batches = list(method.epoch_batches(RNG(0)))
    assert sorted(map(len, batches)) == [6, 7, 7]
    method.augment = lambda images, rng: torch.zeros_like(images)
    logits = method.networks["head"](method.networks["encoder"](torch.zeros(len(batches[0]), 3, 32, 32)))
    expected = nn.functional.cross_entropy(logits, method.task.labels[batches[0]])
    assert method.losses(batches[0], RNG(0))["loss"].item() == pytest.approx(expected.item(), rel=1e-5)


# Whole runs


def dataset(unlabelled_seed=None):
    """Seven classes without a known attribute and without validation data; with some images whose class is not
    known."""
    split, y = np.repeat(["train", "test"], [70, 35]), np.arange(105) % 7
    pixels = images(105, 32)
    pixels[..., 0] = 30 * y[:, None, None]
    if unlabelled_seed is not None:
        pixels = np.concatenate([pixels, images(30, 32, unlabelled_seed)])
        split, y = np.append(split, ["unlabelled"] * 30), np.append(y, [-1] * 30)
    table = pd.DataFrame({"split": split, "y": y, "a": 0, "original": np.arange(len(y))})
    about = {"size": 32, "classes": list("abcdefg"), "attributes": ["all"], "select": "val", "headline": "test"}
    masks = np.zeros((len(y), 32, 32), bool)
    masks[:, 8:24, 8:24] = True
    return Dataset(pixels, table, about, masks=masks)


def made(root, data, *names):
    """Stage 1, then the runs that read it."""
    save_dataset(root / "data/cifar10", {"cifar10": data})
    for name in names:
        where = finish_run(root, f"runs/cifar10/{name}/s0")
        yield (
            where,
            pd.read_csv(where.folder / "metrics.csv", keep_default_na=False).query(
                "selection == 'best' and group == ''"
            ),
        )


def of(metrics, split, metric):
    (value,) = metrics[(metrics["split"] == split) & (metrics["metric"] == metric)]["value"].astype(float)
    return value


BASE = "stage1.batch_size=24+stage1.encoder=convnet+stage1.encoder.width=4+stage1.epochs=1"


def test_a_linear_classifier_is_run_on_a_model_that_learned_without_labels(tmp_path):
    data = dataset()
    names = (f"linear_classifier+epochs=30+{BASE}", f"logistic_classifier+{BASE}")
    for where, metrics in made(tmp_path, data, *names):
        (run,) = where.runs()
        outputs = Container(where.folder / "outputs.safetensors")
        z, logits = (outputs[f"{run.key}/best/{name}"].astype(np.float32) for name in ("z", "logits"))
        below = Container(where.upstream("stage1")[0].folder / "outputs.safetensors")
        np.testing.assert_allclose(z, below[f"{run.find_upstream_key('stage1')}/last/z"].astype(np.float32), atol=1e-2)
        test, train = data.rows("test"), data.rows("train")
        assert of(metrics, "test", "average_accuracy") == pytest.approx((logits[test].argmax(1) == data.y[test]).mean())
        assert of(metrics, "test", "top5_accuracy") == pytest.approx(is_in_top(5, logits[test], data.y[test]).mean())
        voted = predict_by_neighbors(z[train], data.y[train], z[test], 5)
        assert of(metrics, "test", "knn5_accuracy") == pytest.approx((voted == data.y[test]).mean())
        assert not metrics["metric"].str.contains("leakage|alignment|probe").any()
        resampled = pd.read_parquet(where.folder / "resamples.parquet")["metric"]
        assert {"average_accuracy", "top5_accuracy", "knn5_accuracy"} <= set(resampled)
        model = load(where.folder)
        # kept representations are rounded
        assert (model.predict(data.inputs[test]) == logits[test].argmax(1)).mean() > 0.9
        history = pd.read_csv(where.folder / "history.csv")
        assert "loss" in set(history["name"]) and not history["name"].str.startswith("val_").any()


def test_saliency_of_a_linear_classifier_is_that_of_the_encoder_below_it(tmp_path):
    data = dataset()
    ((where, _),) = made(tmp_path, data, f"logistic_classifier+{BASE}")
    saliency.explain(where, OPTIONS)
    table = pd.read_csv(where.folder / "saliency.csv")
    assert table["samples"].sum() == len(data.rows("test")) and table["uniform"].to_numpy() == pytest.approx(0.25)
    assert table["inside"].dropna().between(0, 1).all() and table["inside"].std() > 0


def test_fine_tuning_keeps_an_encoder_of_its_own(tmp_path):
    data = dataset()
    name = f"fine_tuning+batch_size=8+epochs=2+label_fraction=0.1~0.3+{BASE}"
    ((where, _),) = made(tmp_path, data, name)
    models, below = (Container(p.folder / "models.safetensors") for p in (where, where.upstream("stage1")[0]))
    assert [
        json.loads((where.folder / "about.json").read_text())["runs"][run.key]["training_images"]
        for run in where.runs()
    ] == [14, 42]
    for run in where.runs():
        own, start = models.load_arrays(f"{run.key}/last"), below.load_arrays(f"{run.find_upstream_key('stage1')}/last")
        assert own.keys() == {*(k for k in start if k.startswith("encoder.")), "head.weight", "head.bias"}
        assert (own["encoder.layers.0.weight"] != start["encoder.layers.0.weight"]).any()
        model = load(where.folder, method=run.spec.name)
        kept = Container(where.folder / "outputs.safetensors")[f"{run.key}/best/z"]
        np.testing.assert_allclose(
            model.outputs(data.inputs)["z"].astype(np.float32), kept.astype(np.float32), rtol=0.02, atol=0.02
        )


def test_images_without_labels_teach_the_encoder_only(tmp_path):
    weights, found = [], []
    for seed in (1, 2):
        ((where, metrics),) = made(tmp_path / str(seed), dataset(seed), f"logistic_classifier+{BASE}")
        (run,) = where.runs()
        about = json.loads((where.upstream("stage1")[0].folder / "about.json").read_text())["runs"][
            run.find_upstream_key("stage1")
        ]
        assert about["training_images"] == 2 * 24 * (100 // 24)
        weights.append(
            Container(where.upstream("stage1")[0].folder / "models.safetensors")[
                f"{run.find_upstream_key('stage1')}/last/encoder.layers.0.weight"
            ]
        )
        found.append(metrics)
        assert set(metrics["split"]) == {"train", "test"}
        outputs = Container(where.folder / "outputs.safetensors")
        assert of(metrics, "train", "average_accuracy") == pytest.approx(
            (outputs[f"{run.key}/best/logits"][:70].argmax(1) == np.arange(70) % 7).mean()
        )
    assert (weights[0] != weights[1]).any()


def test_a_model_that_learned_without_labels_is_probed_on_known_classes_only(tmp_path):
    data = dataset(1)
    ((where, metrics),) = made(tmp_path, data, "simclr+batch_size=24+encoder=convnet+encoder.width=4+epochs=1")
    table = pd.read_csv(where.folder / "metrics.csv", keep_default_na=False)
    probed = table[(table["metric"] == "probe_accuracy") & (table["selection"] == "best")]
    assert probed[["split", "group"]].to_numpy().tolist() == [["test", "100%"]]
    assert "unlabelled" not in set(table["split"]) and not metrics["metric"].str.contains("domain_accuracy").any()


def test_a_method_that_selects_needs_validation_data(tmp_path):
    with pytest.raises(SettingError, match="criterion=last"):
        list(made(tmp_path, dataset(), "erm+encoder=convnet+encoder.width=4+epochs=1"))
    list(made(tmp_path, dataset(), "erm+criterion=last+encoder=convnet+encoder.width=4+epochs=1"))
