"""Methods fitted on stage-1 representations: INLP, LEACE, deep feature reweighting; and how they are given them."""

import copy
import json

import numpy as np
import pytest
import torch
from helpers import OPTIONS, build, embedded, finish_run, result, save_tiny
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import StandardScaler

from despur import groups
from despur.methods.dfr import DFR, STRENGTHS, equal_groups, halve
from despur.methods.inlp import balanced_accuracy, extend
from despur.methods.leace import erasure
from despur.model import load
from despur.numerics.linear import logistic, support_vectors
from despur.storage.containers import Container
from despur.training.inputs import RunInputs
from despur.training.runs import train_all

RNG = np.random.default_rng
QUICK = {"inlp": "inlp+iterations=40", "leace": "leace", "dfr": "dfr+fits=3"}


def biased(count=600, values=2, seed=0):
    rng = RNG(seed)
    y = np.arange(count) % 3
    return embedded(y, np.where(rng.random(count) < 0.7, y % values, rng.integers(0, values, count)), seed=seed)


def fitted(name, of):
    """The method after its fit, and what it makes of the training representations, (N,D)."""
    method = build(name, of)
    method.fit(RNG(0))
    with torch.no_grad():
        return method, method.networks["encoder"](of.batcher.inputs).numpy().astype(float)


def attack(z, a):
    """Balanced accuracy of a fresh linear classifier on what it was fitted on."""
    values, weights, biases = support_vectors(z, a)
    found = values[(z @ weights.T + biases).argmax(1)]
    return np.mean([(found[a == v] == v).mean() for v in values])


@pytest.mark.parametrize("by_class", ["true", "false"])
def test_after_inlp_a_fresh_linear_classifier_is_at_chance_and_the_projection_idempotent(by_class):
    of = biased()
    method, z = fitted(f"inlp+by_class={by_class}+iterations=30+min_accuracy=0.55", of)
    assert attack(of.batcher.inputs.numpy(), of.inferred_attribute) > 0.85
    for rows in [of.y == label for label in range(3)] if by_class == "true" else [slice(None)]:
        assert attack(z[rows], of.inferred_attribute[rows]) < 0.6
    projection = method.networks["encoder"].weight.detach().double().numpy()
    np.testing.assert_allclose(projection @ projection, projection, atol=1e-5)
    np.testing.assert_allclose(projection, projection.T, atol=1e-6)
    assert np.linalg.matrix_rank(projection, tol=1e-3) == 12 - method.metadata()["removed_directions"] < 12


def test_more_iterations_remove_more_and_none_removes_nothing():
    of = biased()
    removed = [
        fitted(f"inlp+iterations={n}+min_accuracy=0", of)[0].metadata()["removed_directions"] for n in (0, 1, 4, 50)
    ]
    assert removed[:3] == [0, 1, 4] and removed[3] == 12
    np.testing.assert_allclose(fitted("inlp+iterations=0", of)[1], of.batcher.inputs, atol=1e-6)


def test_inlp_removes_the_direction_of_the_classifier_that_it_is_asked_for():
    of = biased()
    method, _ = fitted("inlp+attacker_strength=0.0001+by_class=false+iterations=1+min_accuracy=0", of)
    _, weights, _ = support_vectors(of.batcher.inputs.numpy(), of.inferred_attribute, 0.0001, refined=True)
    unit = weights[1] / np.linalg.norm(weights[1])
    np.testing.assert_allclose(method.networks["encoder"].weight.detach(), np.eye(12) - np.outer(unit, unit), atol=1e-5)


def test_a_classifier_is_judged_by_balanced_accuracy():
    truth, predicted = RNG(0).integers(0, 3, 50) // 2, RNG(1).integers(0, 2, 50)
    assert balanced_accuracy(predicted, truth) == pytest.approx(balanced_accuracy_score(truth, predicted))


def test_a_basis_is_extended_by_what_is_new():
    basis = extend(np.eye(4)[:, :1], np.array([[1.0, 2, 0, 0], [3.0, 2, 0, 0]]))
    np.testing.assert_allclose(np.abs(basis), np.eye(4)[:, :2], atol=1e-12)


@pytest.mark.parametrize("values", [2, 3])
def test_after_leace_nothing_correlates_with_the_attribute(values):
    of = biased(values=values)
    _, z = fitted("leace", of)
    one_hot = np.eye(values)[of.inferred_attribute]
    before, after = (
        np.abs((x - x.mean(0)).T @ (one_hot - one_hot.mean(0)) / len(x)).max() for x in (of.batcher.inputs.numpy(), z)
    )
    assert before > 0.1 and after < 1e-6
    assert attack(z, of.inferred_attribute) == pytest.approx(1 / values, abs=0.03)
    np.testing.assert_allclose(z.mean(0), of.batcher.inputs.numpy().mean(0), atol=1e-5)


@pytest.mark.parametrize("values", [2, 3])
def test_leace_is_the_constrained_least_squares_of_its_theorem(values):
    """Row i of the map is the a that minimizes (a - e_i) Sigma_xx (a - e_i)' subject to a Sigma_xz = 0: one linear
    system (KKT)."""
    rng = RNG(values)
    a = rng.integers(0, values, 400)
    x = rng.normal(size=(400, 7)) @ rng.normal(size=(7, 7)) + rng.normal(size=(values, 7))[a] + 3
    one_hot, centered = np.eye(values)[a][:, 1:], x - x.mean(0)  # the first column follows from the others
    within, cross = centered.T @ centered / 400, centered.T @ (one_hot - one_hot.mean(0)) / 400
    system = np.block([[within, cross], [cross.T, np.zeros((values - 1, values - 1))]])
    expected = np.linalg.solve(system, np.vstack([within, np.zeros((values - 1, 7))]))[:7].T
    weight, bias = erasure(x, a)
    np.testing.assert_allclose(weight, expected, atol=1e-9)
    np.testing.assert_allclose(bias, x.mean(0) - expected @ x.mean(0), atol=1e-9)


def test_leace_leaves_alone_what_knows_nothing_and_stands_constant_directions():
    x = RNG(0).normal(size=(100, 5))
    x[:, 4] = 2.0
    doubled, a = np.concatenate([x, x]), np.repeat([0, 1], 100)
    weight, bias = erasure(doubled, a)
    np.testing.assert_allclose(doubled @ weight.T + bias, doubled, atol=1e-9)
    shifted = doubled + a[:, None] * np.eye(5)[0]
    weight, bias = erasure(shifted, a)
    erased = shifted @ weight.T + bias
    np.testing.assert_allclose(erased[:100].mean(0), erased[100:].mean(0), atol=1e-9)


@pytest.mark.parametrize("name", ["inlp+iterations=5+strength=0.05", "leace+strength=0.05"])
def test_the_last_layer_is_fitted_anew(name):
    of = biased()
    method, z = fitted(name, of)
    weights, biases = logistic(z.astype(np.float32), of.y, 3, 0.05)
    np.testing.assert_allclose(method.networks["head"].weight.detach(), weights, atol=2e-2)
    assert ((z @ weights.T + biases).argmax(1) == of.y).mean() > 0.6


def test_dfr_lifts_the_worst_group():
    rng = RNG(0)
    y = np.arange(2000) % 2
    a = np.where(rng.random(2000) < 0.95, y, 1 - y)
    z = np.stack([y + rng.normal(size=2000), 3 * a + 0.1 * rng.normal(size=2000), np.ones(2000)], axis=1)
    of = embedded(y, a, z)
    method, kept = fitted("dfr+fits=5+penalty=l2", of)
    np.testing.assert_array_equal(kept, z.astype(np.float32))
    weights, biases = logistic(z, y, 2)
    with torch.no_grad():
        ours = method.networks["head"](of.batcher.inputs).numpy().argmax(1) == y
    plain = (z @ weights.T + biases).argmax(1) == y
    worst = [min(hit[(y == c) & (a == v)].mean() for c in (0, 1) for v in (0, 1)) for hit in (plain, ours)]
    assert worst[0] < 0.3 and worst[1] > 0.55
    assert method.metadata()["samples_a_fit"] == 4 * min(np.bincount(2 * y + a))


def test_dfr_is_the_mean_of_scikit_learns_fits_on_balanced_subsets_with_the_best_strength_of_a_held_out_half():
    rng = RNG(3)  # the half that is fitted would choose another strength
    y = np.arange(400) % 2
    a = np.where(rng.random(400) < 0.8, y, 1 - y)
    z = np.stack([y + rng.normal(size=400), 2 * a + rng.normal(size=400), *rng.normal(size=(20, 400))], axis=1)
    of = embedded(y, a, z)
    method, _ = fitted("dfr+fits=3", of)
    x, group, rng = StandardScaler().fit_transform(of.batcher.inputs.numpy()), 2 * y + a, RNG(0)

    def fit(rows, strength):
        return LogisticRegression(C=strength, l1_ratio=1, solver="liblinear", max_iter=1000, tol=1e-8).fit(
            x[rows], y[rows]
        )

    first, second = halve(group, rng)
    assert sorted([*first, *second]) == list(range(400))
    assert (np.bincount(group[first]) - np.bincount(group[second]) < 2).all()
    rows = first[equal_groups(group[first], rng)]
    worst = []
    for strength in STRENGTHS:
        hits = fit(rows, strength).predict(x[second]) == y[second]
        worst.append(min(hits[group[second] == value].mean() for value in range(4)))
    strength = STRENGTHS[int(np.argmax(worst))]
    assert method.metadata()["strength"] == strength and len(set(worst)) > 2
    fits = [fit(equal_groups(group, rng), strength) for _ in range(3)]
    expected = x @ np.mean([each.coef_[0] for each in fits], axis=0) + np.mean([each.intercept_ for each in fits])
    with torch.no_grad():
        logits = method.networks["head"](of.batcher.inputs).numpy()
    np.testing.assert_allclose(logits[:, 1] - logits[:, 0], expected, atol=5e-3)


def test_a_given_strength_is_not_tuned():
    of = biased()
    assert fitted("dfr+fits=1+strength=0.2", of)[0].metadata()["strength"] == 0.2


# through the stages


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Tiny data, a stage-1 model and the true groups."""
    results = tmp_path_factory.mktemp("results")
    save_tiny(results)
    train_all(result(results, "stage1/colored_digits/erm+epochs=2/s0-1"), OPTIONS)
    groups.infer(result(results, "groups/colored_digits/oracle/s0-1"), OPTIONS)
    return results


@pytest.mark.parametrize("name", QUICK.values(), ids=QUICK)
def test_a_fitted_method_runs_on_the_representations_of_its_stage_1_and_is_loaded_with_it(name, root):
    at = finish_run(root, f"runs/colored_digits/{name}+stage1.epochs=2/s0-1")
    (above,) = at.upstream("stage1")
    outputs, below = Container(at.folder / "outputs.safetensors"), Container(above.folder / "outputs.safetensors")
    data = json.loads((at.folder / "about.json").read_text())["data"]["colored_digits"]
    assert data["shape"] == [84]
    dataset = save_tiny(root)
    for run in at.runs():
        models = Container(at.folder / "models.safetensors").load_arrays(f"{run.key}/best")
        z = below[f"{run.find_upstream_key('stage1')}/{run.spec.settings['stage1_selection']}/z"].astype(np.float32)
        mapped = z @ models["encoder.weight"].T + models["encoder.bias"]
        np.testing.assert_allclose(outputs[f"{run.key}/best/z"], mapped, atol=5e-3)
        np.testing.assert_allclose(load(at.folder, run.seed).outputs(dataset.inputs)["z"], mapped, atol=1e-2)


def test_a_killed_job_keeps_the_fits_that_are_finished(root, monkeypatch):
    at = result(root, "runs/colored_digits/dfr+fits=2+stage1.epochs=2/s0-1")
    train_all(at, OPTIONS)
    about = json.loads((at.folder / "about.json").read_text())["runs"]
    expected = [(at.folder / name).read_bytes() for name in ("models.safetensors", "history.csv")]
    assert about[at.runs()[0].key]["samples_a_fit"] > 0 and about[at.runs()[0].key]["steps"] == 1
    for file in at.folder.iterdir():
        file.unlink()
    fits, fit = [], DFR.fit

    def fragile(self, rng):
        fits.append(copy.deepcopy(rng).random())
        if len(fits) == 2:  # of the second seed
            raise KeyboardInterrupt
        fit(self, rng)

    monkeypatch.setattr(DFR, "fit", fragile)
    with pytest.raises(KeyboardInterrupt):
        train_all(at, OPTIONS)
    train_all(at, OPTIONS)
    assert len(fits) == 3 and fits[0] != fits[1] == fits[2], "what is drawn depends on the seed alone"
    assert [(at.folder / name).read_bytes() for name in ("models.safetensors", "history.csv")] == expected
    again = json.loads((at.folder / "about.json").read_text())["runs"]
    drop = {"seconds"}
    assert [{k: v for k, v in run.items() if k not in drop} for run in again.values()] == [
        {k: v for k, v in run.items() if k not in drop} for run in about.values()
    ]


def test_a_task_with_a_stage_1_presents_its_training_representations(root):
    at = result(root, "runs/colored_digits/leace+stage1.epochs=2/s0-1")
    run = at.runs()[1]
    inputs = RunInputs(at, torch.device("cpu"))
    task = inputs.build_task(run, inputs.load_dataset(run))
    z = Container(root / "stage1/colored_digits/erm+epochs=2/s0-1/outputs.safetensors")[
        "colored_digits/erm+epochs=2/s1/best/z"
    ]
    rows = inputs.load_dataset(run).rows("train")
    np.testing.assert_array_equal(task.batcher.batch(np.arange(len(rows)), RNG(0)), z[rows].astype(np.float32))
    assert inputs.load_dataset(run) is inputs.load_dataset(run)  # held in memory once
