"""Methods on a foundation model's embeddings: prompting, linear probe, adapter, WiSE-FT, DFR of inferred groups;
Lipschitz bounds."""

import numpy as np
import pytest
import torch
from helpers import CPU, OPTIONS, build, finish_run, result, save_tiny
from helpers import embedded_by_a_foundation_model as embedded
from scipy.special import softmax

from despur import groups
from despur.methods.dfr import equal_groups
from despur.methods.dfr_probe import equal_classes
from despur.methods.wise_ft import WiSEFT
from despur.metrics.lipschitz import product_bound, sampled_bound
from despur.model import load
from despur.numerics.linear import liblinear
from despur.storage.containers import Container
from despur.training.inputs import RunInputs
from despur.training.runs import train_all

RNG = np.random.default_rng


def train(method, epochs=2):
    for epoch in range(epochs):
        method.epochs_done = epoch
        for batch in method.epoch_batches(RNG(epoch)):
            assert torch.isfinite(method.step(batch, RNG(epoch))["loss"])
    return method


def fitted(method):
    method.fit(RNG(0))
    return method


def logits(method, task):
    method.networks.eval()
    with torch.no_grad():
        return method.networks["head"](method.networks["encoder"](task.batcher.inputs)).numpy()


# parameters


@pytest.mark.parametrize(("dim", "parameters"), [(1024, 263_424), (768, 197_632)])
def test_an_adapter_trains_as_many_parameters_as_the_paper_prints(dim, parameters):
    method = build("adapter", embedded(dim=dim))
    assert sum(p.numel() for p in method.networks.parameters() if p.requires_grad) == parameters
    without = build("adapter+batch_norm=false", embedded(dim=dim))
    assert sum(p.numel() for p in without.networks.parameters() if p.requires_grad) == parameters - 256


# prompting


def test_zero_shot_predicts_the_nearest_class_prompt():
    task = embedded()
    found = logits(fitted(build("prompting+temperature=0.05", task)), task)
    np.testing.assert_allclose(found, task.stage1_outputs.logits / 0.05, rtol=1e-4, atol=1e-4)


def test_group_prompts_predict_the_class_of_the_nearest_of_all():
    prompts = RNG(0).normal(size=(3, 4, 10)).astype(np.float32)
    task = embedded(prompts=prompts)
    found = logits(fitted(build("prompting+prompts=group", task)), task).argmax(1)
    cosines = task.batcher.inputs.numpy() @ prompts.reshape(12, 10).T
    np.testing.assert_array_equal(found, cosines.argmax(1) // 4)


def test_group_prompts_that_do_not_exist_are_asked_for():
    with pytest.raises(ValueError, match="prompts=class works"):
        fitted(build("prompting+prompts=group", embedded()))


def test_a_head_of_other_representations_is_refused():
    task = embedded()
    task.stage1_outputs.head = np.eye(3, 7, dtype=np.float32)
    with pytest.raises(ValueError, match=r"\(3, 7\), not \(3, 10\)"):
        build("adapter", task)


# adapters and probes


def test_an_adapter_outputs_cosines_of_unit_embeddings_and_leaves_the_class_embeddings_alone():
    task = embedded()
    method = train(build("adapter+temperature=0.05", task))
    with torch.no_grad():
        z = method.networks["encoder"].eval()(task.batcher.inputs).numpy()
    np.testing.assert_allclose(np.linalg.norm(z, axis=1), 1, rtol=1e-5)
    np.testing.assert_allclose(logits(method, task), z @ task.stage1_outputs.head.T / 0.05, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("count", [9, 8 * 5 + 1])
def test_no_minibatch_of_an_adapter_has_one_sample(count):
    batches = list(build("adapter+batch_size=8", embedded(count)).epoch_batches(RNG(0)))
    assert min(map(len, batches)) > 1 and sorted(np.concatenate(batches)) == list(range(count))


@pytest.mark.parametrize("name", ["adapter", "linear_probe"])
def test_training_learns_what_embeddings_tell(name):
    task = embedded(300)
    method = train(build(f"{name}+batch_size=16+learning_rate=0.1", task), 20)
    assert (logits(method, task).argmax(1) == task.y).mean() > 0.85


@pytest.mark.parametrize("name", ["linear_probe", "wise_ft+alpha=0"])
def test_a_probe_is_trained_on_embeddings_of_the_length_that_they_had(name):
    unit, long = embedded(), embedded()
    unit.stage1_outputs.length, long.batcher.inputs = 7.0, 7 * long.batcher.inputs
    found = [logits(train(build(f"{name}+batch_size=16+weight_decay=0.1", task)), task) for task in (unit, long)]
    np.testing.assert_allclose(*found, rtol=1e-3, atol=1e-4)


# WiSE-FT


def ensemble(settings, task):
    """WiSE-FT after training, the two classifiers mixed."""
    method = train(build(f"wise_ft+batch_size=16+{settings}", task))
    method.on_train_end(RNG(0))
    return method


@pytest.mark.parametrize("space", ["weight", "output"])
def test_wise_ft_is_the_probe_at_0_and_zero_shot_at_1(space):
    task = embedded()
    ends = [ensemble(f"alpha={alpha}+space={space}+temperature=0.1", task) for alpha in (0, 1)]
    probe = ends[0].networks["head"].probe
    np.testing.assert_array_equal(probe.weight.detach(), ends[1].networks["head"].probe.weight.detach())
    with torch.no_grad():
        expected = probe(task.batcher.inputs), torch.from_numpy(task.stage1_outputs.logits / 0.1)
    for method, of_end in zip(ends, expected, strict=True):
        found = torch.from_numpy(logits(method, task))
        np.testing.assert_allclose(found.softmax(1), of_end.softmax(1), atol=1e-5)


@pytest.mark.parametrize(
    ("space", "mixed"), [("weight", lambda given: given), ("output", lambda given: softmax(given, 1))]
)
def test_wise_ft_mixes_logits_in_weight_space_and_probabilities_in_output_space(space, mixed):
    task = embedded()
    first, middle, last = (
        mixed(logits(ensemble(f"alpha={alpha}+space={space}+temperature=0.1", task), task)) for alpha in (0, 0.25, 1)
    )
    np.testing.assert_allclose(middle, 0.75 * first + 0.25 * last, rtol=1e-4, atol=1e-4)


def test_until_training_ends_the_probe_alone_is_scored():
    task = embedded()
    methods = [train(build(f"{name}+batch_size=16", task)) for name in ("wise_ft+alpha=1", "linear_probe")]
    np.testing.assert_array_equal(*(logits(method, task) for method in methods))


# DFR of inferred groups


@pytest.mark.parametrize(("resample", "size"), [("subsample", 4), ("upsample", 10)])
def test_resampled_groups_are_equally_large(resample, size):
    group = np.repeat([3, 5, 9], [4, 10, 7])
    rows = equal_groups(group, RNG(0), resample)
    assert np.bincount(group[rows])[[3, 5, 9]].tolist() == [size] * 3
    repeats = np.bincount(rows, minlength=21)
    assert repeats.max() == (1 if resample == "subsample" else 3) and (resample == "subsample" or repeats.min() == 1)


@pytest.mark.parametrize("resample", ["subsample", "upsample"])
def test_dfr_balances_what_zero_shot_gets_right_and_wrong_in_each_class(resample):
    task = embedded(300)
    method = fitted(build(f"dfr_inferred+resample={resample}", task))
    sizes = np.bincount(2 * task.y + (task.inferred_attribute == task.y))
    assert method.metadata()["samples_a_fit"] == 6 * (sizes.max() if resample == "upsample" else sizes.min())
    assert (logits(method, task).argmax(1) == task.y).mean() > 0.8


def test_dfr_of_balanced_groups_is_a_logistic_regression():
    task = embedded(120)
    task.inferred_attribute = np.where(np.arange(120) // 3 % 2, task.y, (task.y + 1) % 3)
    method = fitted(build("dfr_inferred", task))
    z = task.batcher.inputs.numpy()
    mean, scale = z.mean(0), z.std(0)
    weights, biases = liblinear((z - mean) / scale, task.y, 3, 1.0, "l2")
    np.testing.assert_allclose(logits(method, task), (z - mean) / scale @ weights.T + biases, atol=2e-2)


@pytest.mark.parametrize(("resample", "sizes"), [("subsample", [2, 2, 0, 3, 3]), ("upsample", [7, 7, 0, 5, 5])])
def test_within_each_prediction_classes_are_equally_frequent(resample, sizes):
    """Of those taken for class 0, 2 are of class 0 and 7 of class 1; of those for class 1, 5 are of class 1, 3 of 2."""
    predicted, y = np.repeat([0, 0, 1, 1], [2, 7, 5, 3]), np.repeat([0, 1, 1, 2], [2, 7, 5, 3])
    rows = equal_classes(y, predicted, RNG(0), resample)
    pairs = np.bincount(3 * predicted[rows] + y[rows], minlength=6)
    assert pairs.tolist() == [*sizes[:3], 0, *sizes[3:]]
    assert len(set(rows)) == (len(rows) if resample == "subsample" else len(y))


def test_the_released_dfr_draws_anew_in_each_epoch():
    task = embedded(300)
    method = build("dfr_probe+batch_size=16+learning_rate=0.1", task)
    first, second = (np.concatenate(list(method.epoch_batches(RNG(epoch)))) for epoch in (0, 1))
    assert len(first) == len(second) < 300 and set(first) != set(second)
    for value in range(3):
        sizes = np.bincount(task.y[first[task.inferred_attribute[first] == value]])
        assert len(set(sizes[sizes > 0])) == 1
    assert (logits(train(method, 10), task).argmax(1) == task.y).mean() > 0.8


# true attributes in the place of predictions


@pytest.fixture
def blond():
    """Embeddings of samples counted as in CelebA: most of either sex are not blond, and the blond are women; attribute
    0 is female."""
    cells = {(0, 0): 71, (0, 1): 66, (1, 0): 23, (1, 1): 2}
    y, a = np.concatenate([np.tile(cell, (count, 1)) for cell, count in cells.items()]).T
    task = embedded(len(y), 2)
    task.y, task.inferred_attribute = y, a
    return task


def test_of_true_attributes_each_stands_for_the_class_where_its_share_is_largest(blond):
    method = build("contrastive_adapter+groups=oracle", blond)
    np.testing.assert_array_equal(method.predicted, 1 - blond.inferred_attribute)
    assert method.metadata()["anchors"] == 71 + 2
    assert set(build("dfr_inferred+groups=oracle", blond).number_groups()[-2:]) == {2}, "blond men are wrong"


def test_more_attributes_than_classes_are_never_taken_for_classes():
    task = embedded(60, 2)
    task.inferred_attribute = task.y + 2 * (np.arange(60) % 3)  # subclasses, each of one class
    np.testing.assert_array_equal(build("contrastive_adapter+groups=oracle", task).predicted, task.y)


# Lipschitz bounds


@pytest.mark.parametrize("norm", ["true", "false"])
def test_an_adapter_never_stretches_more_than_the_product_and_somewhere_as_much_as_the_sample(norm):
    task = embedded(200)
    method = train(build(f"adapter+batch_norm={norm}+batch_size=16+learning_rate=0.01", task), 3)
    encoder = method.networks["encoder"].eval()
    weights = {name: value.numpy() for name, value in encoder.state_dict().items()}
    z = task.batcher.inputs
    low, high = sampled_bound(weights, z.numpy()), product_bound(weights)

    def before_normalization(x):
        return encoder.up(torch.relu(encoder.norm(encoder.down(x[None]))))[0]

    jacobians = [torch.autograd.functional.jacobian(before_normalization, x) for x in z]
    assert low == pytest.approx(max(torch.linalg.matrix_norm(j, 2).item() for j in jacobians), rel=1e-4)
    with torch.no_grad():
        f = torch.stack([before_normalization(x) for x in z])
    stretched = (torch.pdist(f) / torch.pdist(z)).max().item()
    assert stretched <= high * (1 + 1e-6) and low <= high


# through the stages


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Tiny data, and an ERM model in the part of a foundation model."""
    results = tmp_path_factory.mktemp("results")
    save_tiny(results)
    train_all(result(results, "stage1/colored_digits/erm+epochs=2/s0"), OPTIONS)
    for name in ("predictions", "ssa"):
        groups.infer(result(results, f"groups/colored_digits/{name}+stage1.epochs=2/s0"), OPTIONS)
    return results


ON_ERM = {
    "contrastive_adapter": "contrastive_adapter+epochs=2+num_negatives=4+num_neighbors=8"
    "+num_positives=4+stage1=erm+stage1.epochs=2",
    "wise_ft": "wise_ft+alpha=0~1+epochs=2+stage1=erm+stage1.epochs=2",
    "dfr_probe": "dfr_probe+epochs=2+stage1=erm+stage1.epochs=2",
    "dfr_inferred": "dfr_inferred+stage1=erm+stage1.epochs=2",
    "prompting": "prompting+stage1=erm+stage1.epochs=2",
    "gdro": "gdro+epochs=1+groups=ssa+stage1.epochs=2",
}


@pytest.mark.parametrize("name", ON_ERM.values(), ids=ON_ERM)
def test_it_runs_through_the_stages_and_is_loaded(name, root):
    at = finish_run(root, f"runs/colored_digits/{name}/s0")
    outputs, dataset = Container(at.folder / "outputs.safetensors"), save_tiny(root)
    for run in at.runs():
        model = load(at.folder, 0, run.spec.name)
        np.testing.assert_allclose(
            outputs[f"{run.key}/best/logits"], model.outputs(dataset.inputs)["logits"], atol=0.5, rtol=2e-2
        )


def test_wise_ft_trains_its_probe_once_for_all_alphas(root, monkeypatch):
    steps = []
    step = WiSEFT.step
    monkeypatch.setattr(WiSEFT, "step", lambda self, *rest: steps.append(0) or step(self, *rest))
    found, counts = {}, []
    for alphas in ("0", "0.4", "0~0.4~1"):
        steps.clear()
        at = result(root, f"runs/colored_digits/wise_ft+alpha={alphas}+epochs=3+stage1=erm+stage1.epochs=2/s0")
        train_all(at, OPTIONS)
        counts.append(len(steps))
        kept = Container(at.folder / "outputs.safetensors")
        found[alphas] = {run.spec.value("alpha"): kept[f"{run.key}/best/logits"] for run in at.runs()}
    assert counts[0] == counts[1] == counts[2] > 0
    for alpha, alone in ((0, "0"), (0.4, "0.4")):
        np.testing.assert_array_equal(found["0~0.4~1"][alpha], found[alone][alpha])
    assert (found["0~0.4~1"][1] != found["0"][0]).any()


def test_a_task_has_what_its_stage_1_says_of_the_training_samples(root):
    at = result(root, f"runs/colored_digits/{ON_ERM['prompting']}/s0")
    (run,) = at.runs()
    inputs = RunInputs(at, CPU)
    task = inputs.build_task(run, inputs.load_dataset(run))
    (above,) = at.upstream("stage1")
    rows = inputs.load_dataset(run).rows("train")
    np.testing.assert_array_equal(
        task.stage1_outputs.logits,
        Container(above.folder / "outputs.safetensors")[f"{run.find_upstream_key('stage1')}/last/logits"][rows],
    )
    assert task.stage1_outputs.head.shape == (5, 84) and task.stage1_outputs.group_prompts is None
