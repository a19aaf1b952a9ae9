"""Inference of pseudo-groups, and what each inference may look at."""

import itertools
import json
from argparse import Namespace

import numpy as np
import pandas as pd
import pytest
from helpers import evidence, quick, result, save_tiny
from hypothesis import given
from hypothesis import strategies as st
from pynndescent import pynndescent_, utils
from safetensors.numpy import save_file
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from umap import UMAP
from umap.distances import named_distances

from despur import groups
from despur.inference import clusters, oracle, predictions
from despur.inference.base import check_inferred, match_labels
from despur.numerics.umap import find_neighbors, keep_compiled, project
from despur.specs.declarations import list_components, read_declarations
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.containers import Container


@st.composite
def clusterings(draw):
    count, size = draw(st.integers(1, 5)), draw(st.integers(1, 25))
    value = st.lists(st.integers(0, count - 1), min_size=size, max_size=size)
    return np.array(draw(value)), np.array(draw(value)), count


@pytest.mark.filterwarnings("ignore:A single label")
@quick
@given(clusterings())
def test_matched_labels_agree_as_well_as_the_best_permutation(data):
    found, y, count = data
    named = match_labels(found, y, count)
    best = max((np.array(names)[found] == y).sum() for names in itertools.permutations(range(count)))
    assert (named == y).sum() == best
    # only renamed
    assert len({(int(a), int(b)) for a, b in zip(found, named, strict=True)}) == len(set(found)) == len(set(named))


def test_predictions_are_the_largest_logit():
    logits = np.array([[0.1, 0.3, -1], [2, 0, 1], [-5, -4, -3]])
    assert predictions.infer(evidence([0, 1, 2], logits=logits), {}).tolist() == [1, 0, 2]


def test_oracle_is_the_attribute():
    a = np.array([2, 0, 1, 1])
    assert (
        oracle.infer(evidence([0, 0, 1, 1], true_attribute=a, num_attributes=3), {"noise": 0.0}).tolist() == a.tolist()
    )


@pytest.mark.parametrize(("noise", "values"), [(0.25, 5), (0.6, 3), (0.5, 2), (1.0, 4)])
def test_noisy_oracle_replaces_at_the_rate_and_by_other_values(noise, values):
    a = np.arange(20_000) % values
    found = oracle.infer(evidence(a, true_attribute=a, num_attributes=values), {"noise": noise})
    changed = found != a  # a replaced label is never the same, so all replacements show
    assert changed.mean() == pytest.approx(noise, abs=5 * np.sqrt(noise * (1 - noise) / len(a)) + 1e-12)
    shift = np.bincount((found - a)[changed] % values, minlength=values)
    expected = changed.sum() / (values - 1)
    assert shift[0] == 0 and np.abs(shift[1:] - expected).max() < 5 * np.sqrt(expected)
    assert set(found) == set(range(values))


def test_more_noise_keeps_what_less_noise_replaced():
    a = np.arange(500) % 5
    little, much = (oracle.infer(evidence(a, true_attribute=a, num_attributes=5), {"noise": p}) for p in (0.2, 0.6))
    assert (little != a).any() and (much[little != a] == little[little != a]).all()


@pytest.mark.parametrize("algorithm", ["gmm", "kmeans"])
def test_separated_blobs_are_named_after_the_classes(algorithm, monkeypatch):
    points, blob = make_blobs([40] * 3, 2, centers=[(0, 0), (20, 0), (0, 20)], random_state=0)
    y = np.where(np.arange(len(blob)) % 10 == 0, (blob + 1) % 3, blob)  # one in ten is of another class
    monkeypatch.setattr(clusters, "project", lambda z, *how: z)
    settings = resolve("inference", f"clusters+algorithm={algorithm}+restarts=3").points[0].settings
    assert (clusters.infer(evidence(y, z=points), settings) == blob).all()


@pytest.mark.parametrize(("algorithm", "estimator"), [("gmm", "GaussianMixture"), ("kmeans", "KMeans")])
def test_clusters_are_found_by_the_seed_and_the_settings(algorithm, estimator, monkeypatch):
    asked, fit = [], getattr(clusters, estimator)
    monkeypatch.setattr(clusters, "project", lambda z, *how: asked.append(how) or z)
    monkeypatch.setattr(clusters, estimator, lambda k, **how: asked.append((k, how)) or fit(k, **how))
    name = f"clusters+algorithm={algorithm}+components=3+metric=cosine+restarts=2"
    z = np.random.default_rng(0).normal(size=(20, 3))
    clusters.infer(evidence([0, 1] * 10, seed=7, z=z), resolve("inference", name).points[0].settings)
    assert asked == [(7, 3, "cosine"), (2, {"n_init": 2, "random_state": 7})]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("values", [120, 3])  # with 3 values, many samples are the same or equally far away
def test_neighbors_are_bit_identical_to_those_that_umap_finds(metric, values):
    z = np.random.default_rng(0).integers(0, values, (120, 4)).astype(np.float32)
    z[:2] = 0
    all_distances = pairwise_distances(z, metric=named_distances[metric])
    rows = all_distances.argsort(axis=1, kind="stable")[:, :15]
    found, distances = find_neighbors(z, 15, metric)
    assert (found == rows).all()
    assert (distances == np.take_along_axis(all_distances, rows, axis=1).astype(np.float32)).all()


@pytest.mark.long
def test_neighbors_found_beforehand_give_the_projection_of_umap_alone():
    z = np.random.default_rng(0).normal(size=(60, 5)).astype(np.float32)
    assert (project(z, 0) == UMAP(random_state=0).fit_transform(z)).all()


@pytest.mark.long
def test_as_few_samples_as_neighbors_can_be_projected():
    assert np.isfinite(project(np.eye(12, dtype=np.float32), 0)).all()


def test_numba_keeps_on_disk_what_umap_compiles_for_many_samples():
    keep_compiled()
    assert utils.build_candidates_owner.stats.cache_path and not pynndescent_.nn_descent.stats.cache_path


@pytest.mark.long
def test_umap_keeps_separated_blobs_apart():
    points, blob = make_blobs([30] * 3, 10, centers=np.eye(3, 10) * 40, random_state=0)
    settings = resolve("inference", "clusters").points[0].settings
    first, again = (clusters.infer(evidence(blob, z=points.astype(np.float16)), settings) for _ in range(2))
    assert (first == blob).all() and (first == again).all()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Made-up data with made-up stage-1 outputs for two seeds, and groups inferred from them."""
    results = tmp_path_factory.mktemp("results")
    dataset = save_tiny(results)
    rng = np.random.default_rng(0)
    folder = results / "stage1/colored_digits/erm+epochs=1/s0-1"
    folder.mkdir(parents=True)
    arrays = {
        f"colored_digits/erm+epochs=1/s{seed}/last/{name}": rng.normal(size=(len(dataset.y), width)).astype(np.float16)
        for seed in (0, 1)
        for name, width in (("z", 7), ("logits", 5))
    }
    save_file(arrays, folder / "outputs.safetensors")
    groups.infer(result(results, "groups/colored_digits/predictions+stage1.epochs=1/s0-1"), Namespace())
    groups.infer(result(results, "groups/colored_digits/oracle+noise=0~0.5/s0-1"), Namespace())
    return results, dataset, arrays


@pytest.mark.parametrize("name", list_components("inference"))
def test_only_an_inference_that_declares_it_is_given_true_attributes(name, root):
    results, dataset, arrays = root
    from_stage1 = "stage1" in read_declarations("inference", name)["SETTINGS"]
    where = result(results, f"groups/colored_digits/{name}{'+stage1.epochs=1' * from_stage1}/s0-1")
    for run in where.runs():
        found, train = groups.load_evidence(where, run, dataset), dataset.rows("train")
        assert found.seed == run.seed and found.num_classes == found.num_attributes == 5
        assert (found.y == dataset.y[train]).all()
        if read_declarations("inference", name).get("READS_TRUE_GROUPS"):
            assert (found.true_attribute == dataset.table["a"].to_numpy()[train]).all()
        else:
            assert found.true_attribute is None
        if from_stage1:
            source = f"colored_digits/erm+epochs=1/s{run.seed}/last"
            assert (found.z == arrays[f"{source}/z"][train]).all() and (
                found.logits == arrays[f"{source}/logits"][train]
            ).all()
        else:
            assert found.z.size == found.logits.size == 0


def test_oracle_alone_declares_that_it_reads_true_groups():
    assert [
        name for name in list_components("inference") if read_declarations("inference", name).get("READS_TRUE_GROUPS")
    ] == ["oracle"]


def test_without_an_attribute_each_class_is_one_group(root):
    results, dataset, _ = root
    where = result(results, "groups/colored_digits/classes/s0")
    groups.infer(where, Namespace())
    found = Container(where.folder / "groups.safetensors")["colored_digits/classes/s0"]
    assert found.shape == dataset.rows("train").shape and not found.any()
    (warning,) = json.loads((where.folder / "about.json").read_text())["warnings"]["colored_digits/classes/s0"]
    assert "each class is one group" in warning


def test_groups_stage_keeps_one_array_a_run(root):
    results, dataset, arrays = root
    train = dataset.rows("train")
    found = Container(results / "groups/colored_digits/predictions+stage1.epochs=1/s0-1/groups.safetensors")
    assert found.keys == {f"colored_digits/predictions+stage1.epochs=1/s{seed}" for seed in (0, 1)}
    for seed in (0, 1):
        logits = arrays[f"colored_digits/erm+epochs=1/s{seed}/last/logits"][train]
        assert (found[f"colored_digits/predictions+stage1.epochs=1/s{seed}"] == logits.argmax(1)).all()


def test_groups_stage_reports_agreement(root):
    results, dataset, _ = root
    table = pd.read_csv(results / "groups/colored_digits/oracle+noise=0~0.5/s0-1/agreement.csv").set_index(
        ["inference", "seed"]
    )
    assert len(table) == 4
    exact, noisy = table.loc[("oracle", 0)], table.loc[("oracle+noise=0.5", 0)]
    assert exact["best_match"] == 1 and exact["adjusted_mutual_information"] == pytest.approx(1)
    train = dataset.rows("train")
    assert exact["differs_from_class"] == (dataset.table["a"].to_numpy()[train] != dataset.y[train]).sum()
    assert noisy["best_match"] < 0.8 and noisy["adjusted_mutual_information"] < 0.6


def test_agreement_by_hand():
    y, a = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 0, 0, 0, 1])
    swapped = groups.compare_with_truth(1 - a, y, a)  # the truth under other names
    assert swapped == {
        "best_match": 1.0,
        "adjusted_mutual_information": 1.0,
        "differs_from_class": 2,
        "classes_without_difference": 0,
    }
    constant = groups.compare_with_truth(np.zeros(6, int), y, a)
    assert constant == {
        "best_match": 0.5,
        "adjusted_mutual_information": pytest.approx(0, abs=1e-9),
        "differs_from_class": 3,
        "classes_without_difference": 1,
    }


@pytest.mark.parametrize(
    ("inferred", "message"),
    [
        (np.linspace(0, 1.9, 4), "float64, not whole numbers"),
        (np.array([0.0, np.nan, 1.0, 1.0]), "not whole numbers"),
        (1, r"not an attribute for each sample, \(4,\)"),
        (np.zeros(1, int), "not an attribute for each sample"),
        (np.zeros((4, 2), int), "not an attribute for each sample"),
        (None, "not an attribute for each sample"),
        (["a", "b", "a", "b"], "not whole numbers"),
        ([0, 1, -1, 0], "values from -1 to 1: attributes are 0, 1, 2"),
        ([0, 1, 70000, 0], "values from 0 to 70000"),
    ],
)
def test_what_is_no_attribute_of_each_sample_is_refused(inferred, message):
    with pytest.raises(SettingError, match=rf"inference/oracle\.py: infer gives.*{message}"):
        check_inferred(inferred, 4, "oracle")


def test_whole_numbers_of_any_type_are_attributes():
    for inferred in ([0, 1, 2], np.array([True, False, True]), np.array([0, 1, 1], np.uint8)):
        assert check_inferred(inferred, 3, "oracle").tolist() == [int(value) for value in inferred]
    assert len(check_inferred(np.zeros(0, int), 0, "oracle")) == 0
