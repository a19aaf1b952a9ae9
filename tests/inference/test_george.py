"""GEORGE's subclasses: the number of clusters, their numbering."""

import numpy as np
import pandas as pd
import pytest
from helpers import evidence
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score

from despur.inference import george
from despur.specs.declarations import read_declarations

DEFAULTS = {key: setting.default for key, setting in read_declarations("inference", "george")["SETTINGS"].items()}
QUICK = {**DEFAULTS, "max_clusters": 6, "restarts": 1}


def ring(clusters, size=30, dimensions=2, seed=0):
    """Well separated blobs and which one each point is of; the first is three times as large."""
    angles = 2 * np.pi * np.arange(clusters) / clusters
    centers = np.zeros((clusters, dimensions))
    centers[:, 0], centers[:, 1] = 20 * np.cos(angles), 20 * np.sin(angles)
    sizes = [3 * size] + [size] * (clusters - 1)
    return make_blobs(sizes, dimensions, centers=centers, cluster_std=1.0, random_state=seed)


def infer(y, z):
    return george.infer(evidence(y, z=z, logits=np.zeros((len(y), int(y.max()) + 1))), QUICK)


@pytest.mark.parametrize("clusters", [2, 3, 5])
def test_finds_the_number_of_separated_clusters(clusters):
    points, truth = ring(clusters)
    found = george.cluster(points, QUICK, 0, np.random.default_rng(0))
    assert sorted(set(found)) == list(range(clusters))
    assert adjusted_rand_score(truth, found) == 1


def test_never_more_clusters_than_allowed():
    points, _ = ring(5)
    assert len(set(george.cluster(points, {**QUICK, "max_clusters": 3}, 0, np.random.default_rng(0)))) == 3
    few = george.cluster(points[:3], QUICK, 0, np.random.default_rng(0))
    assert len(set(few)) <= 2


def test_silhouette_counts_clusters_alike_however_large():
    points, truth = ring(3)
    equal = np.concatenate([np.flatnonzero(truth == c)[:30] for c in range(3)])
    assert george.silhouette(points[equal], truth[equal]) == pytest.approx(
        silhouette_score(points[equal], truth[equal])
    )
    # blob 1 is cut in two, which is bad
    split = np.where(truth == 1, np.arange(len(truth)) % 2 + 1, np.where(truth == 2, 3, 0))
    each = silhouette_samples(points, split)
    expected = np.mean([each[split == cluster].mean() for cluster in range(4)])
    assert george.silhouette(points, split) == pytest.approx(expected)
    assert expected < each.mean() - 0.1  # three fifths of the points are of one good cluster
    assert george.silhouette(points, np.zeros(len(points), int)) == -1


def test_scores_on_a_subset_and_clusters_all():
    points, truth = ring(3, size=80)
    found = george.cluster(points, {**QUICK, "scored": 40}, 0, np.random.default_rng(0))
    assert adjusted_rand_score(truth, found) == 1


def test_subclasses_are_numbered_through_over_classes(monkeypatch):
    monkeypatch.setattr(george, "project", lambda z, seed, **shape: z)
    parts = [ring(3, seed=1), ring(2, seed=2)]
    y = np.repeat([0, 2], [len(truth) for _, truth in parts])
    order = np.random.default_rng(0).permutation(len(y))
    z, y = np.concatenate([points for points, _ in parts])[order], y[order]
    truth = np.concatenate([parts[0][1], 10 + parts[1][1]])[order]
    found = infer(y, z)
    assert adjusted_rand_score(truth, found) == 1
    assert set(found[y == 0]) == {0, 1, 2} and set(found[y == 2]) == {3, 4}


@pytest.mark.parametrize("unit", [True, False])
def test_a_class_is_projected_by_the_seed_and_the_settings(unit, monkeypatch):
    asked, shape = [], {"components": 3, "neighbors": 7, "min_dist": 0.5}
    monkeypatch.setattr(george, "project", lambda z, seed, **shape: asked.append((z, seed, shape)) or z)
    z = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    george.infer(evidence([0] * 20, seed=9, z=z, logits=np.zeros((20, 1))), {**QUICK, **shape, "unit_length": unit})
    ((given, *how),) = asked
    np.testing.assert_allclose(given, z / np.linalg.norm(z, axis=1, keepdims=True) if unit else z, rtol=1e-6)
    assert how == [9, shape]


def test_a_tiny_class_is_one_subclass(monkeypatch):
    monkeypatch.setattr(george, "project", lambda z, seed, **shape: z)
    points, truth = ring(2)
    y = np.concatenate([np.zeros(len(truth), int), np.ones(10, int)])
    found = infer(y, np.concatenate([points, points[:10]]))
    assert set(found[y == 0]) == {0, 1} and set(found[y == 1]) == {2}


@pytest.mark.long
def test_with_umap_finds_the_clusters_of_representations():
    """Two classes of 3 and 2 clusters in 20 dimensions; directions, as lengths are removed."""
    rng = np.random.default_rng(0)
    centers = np.eye(20)[:5] * 10
    truth = np.repeat(np.arange(5), 40)
    z = (centers[truth] + rng.normal(size=(200, 20))) * rng.uniform(0.5, 2, (200, 1))
    y = np.where(truth < 3, 0, 1)
    found = infer(y, z.astype(np.float16))
    assert adjusted_rand_score(truth, found) == 1
    assert set(found) == set(range(5))


def few_in_many(count=60, loss=1.0, seed=0):
    """Two blobs of 1,000, as a search that counts to two finds them, the second with ``count`` points beside it that
    have another loss."""
    rng = np.random.default_rng(seed)
    centers = np.repeat([[0.0, 0.0], [100.0, 0.0], [130.0, 0.0]], [1000, 1000, count], axis=0)
    points, few = centers + rng.normal(size=centers.shape), np.arange(2000 + count) >= 2000
    return points, (centers[:, 0] > 50).astype(int), np.where(few, loss, 0.1), few


FURTHER = {**DEFAULTS, "overcluster": 2}


def further(points, clusters, losses, **changed):
    return george.overcluster(points, clusters, losses, {**FURTHER, **changed}, 0, np.random.default_rng(0))


def test_a_part_of_a_cluster_that_is_harder_and_lies_apart_is_set_apart():
    points, clusters, losses, few = few_in_many()
    found = further(points, clusters, losses)
    assert adjusted_rand_score(clusters + few, found) == 1 and set(found) == {0, 1, 2}
    assert adjusted_rand_score(clusters + few, further(points, clusters, losses, scored=1500)) == 1


@pytest.mark.parametrize(("count", "loss"), [(24, 1.0), (60, 0.05)])
def test_a_part_that_is_small_or_easier_stays_in_its_cluster(count, loss):
    points, clusters, losses, few = few_in_many(count, loss)
    found = further(points, clusters, losses)
    assert few.sum() == count and set(found[few]) == set(found[1000:1010])


def test_a_200th_of_a_class_is_the_least_that_is_set_apart():
    points, clusters, losses, _ = few_in_many(30)
    assert set(further(points, clusters, losses)) == {0, 1, 2}
    nearly = [
        np.concatenate([part[:2030], np.tile(part[:1000], (5, *[1] * (part.ndim - 1)))])
        for part in (points, clusters, losses)
    ]
    found = further(*nearly)
    assert set(found[2000:2030]) == set(found[1000:1010])


def test_the_sizes_that_are_set_apart_are_settings():
    points, clusters, losses, _ = few_in_many(10)
    assert set(further(points, clusters, losses)) == {0, 1}
    assert set(further(points, clusters, losses, min_size=10)) == {0, 1}  # 10 of 2,010 are less than a 200th
    assert set(further(points, clusters, losses, min_size=10, min_share=0.004)) == {0, 1, 2}
    assert set(further(points, clusters, losses, min_size=11, min_share=0.004)) == {0, 1}


def test_one_blob_that_is_cut_stays_whole():
    """Of two halves of one blob neither lies apart from the other."""
    points, clusters, losses, _ = few_in_many()
    assert np.array_equal(further(points[:2000], clusters[:2000], losses[:2000]), clusters[:2000])


def test_subclasses_are_cut_by_the_losses_of_stage_1(monkeypatch):
    """Of class 0, behind 60 samples of a class that is too small to be cut."""
    monkeypatch.setattr(george, "project", lambda z, seed, **shape: z)
    points, clusters, _, few = few_in_many()
    y = np.repeat([1, 0], [60, len(points)])
    right = np.concatenate([np.zeros(60), np.where(few, -3.0, np.linspace(2, 4, len(few)))])
    settings = {**FURTHER, "max_clusters": 2, "neighbors": 100, "unit_length": False}
    asked = evidence(y, z=np.concatenate([points[:60], points]), logits=np.stack([right, 0 * right], axis=1))
    assert adjusted_rand_score(clusters + few, george.infer(asked, settings)[60:]) == 1
    assert adjusted_rand_score(clusters, george.infer(asked, {**settings, "overcluster": 0})[60:]) == 1


@pytest.mark.parametrize(
    ("before", "after", "apart"), [(0.2, 0.3, True), (0.3, 0.2, False), (-0.2, 0.1, True), (-0.2, -0.1, False)]
)
def test_a_part_is_separate_by_its_silhouette_above_0_and_above_the_one_before(before, after, apart, monkeypatch):
    parts, values = np.repeat([0, 1, 5], 30), iter([before, after])
    monkeypatch.setattr(george, "split_clusters", lambda *_: parts)
    monkeypatch.setattr(george, "mean_silhouettes", lambda *_: pd.Series(next(values), index=[0, 1, 5]))
    found = further(np.zeros((90, 2)), parts.clip(max=1), np.repeat([1.0, 0.5, 1.0], 30))
    assert len(set(found)) == 2 + apart  # the last part, which is harder than its cluster


def test_a_class_whose_projection_is_a_thread_has_clusters(monkeypatch):
    thread = np.random.default_rng(0).uniform(-30, 30, 60)  # in single precision, its covariance is not positive
    monkeypatch.setattr(george, "project", lambda *_, **__: np.stack([thread, thread], 1).astype(np.float32))
    subclass = infer(np.zeros(60, int), thread[:, None])
    assert len(np.unique(subclass)) > 1
