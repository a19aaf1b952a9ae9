"""GEORGE's subclasses: the number of clusters, their numbering."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_samples, silhouette_score

from despur.declarations import declared
from despur.inference import george
from despur.inference.base import Evidence

DEFAULTS = {key: setting.default for key, setting in declared("inference", "george")["SETTINGS"].items()}
QUICK = {**DEFAULTS, "max_clusters": 6, "restarts": 1}


def ring(clusters, size=30, dimensions=2, seed=0):
    """Well separated blobs and which one each point is of; the first is three times as large."""
    angles = 2 * np.pi * np.arange(clusters) / clusters
    centers = np.zeros((clusters, dimensions))
    centers[:, 0], centers[:, 1] = 20 * np.cos(angles), 20 * np.sin(angles)
    sizes = [3 * size] + [size] * (clusters - 1)
    return make_blobs(sizes, dimensions, centers=centers, cluster_std=1.0, random_state=seed)


def evidence(y, z):
    return Evidence(y, int(y.max()) + 1, np.random.default_rng(0), 0, z=z)


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
    assert george.silhouette(points[equal], truth[equal]) == pytest.approx(silhouette_score(points[equal], truth[equal]))
    split = np.where(truth == 1, np.arange(len(truth)) % 2 + 1, np.where(truth == 2, 3, 0))  # blob 1 is cut in two, which is bad
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
    found = george.infer(evidence(y, z), QUICK)
    assert adjusted_rand_score(truth, found) == 1
    assert set(found[y == 0]) == {0, 1, 2} and set(found[y == 2]) == {3, 4}


def test_a_tiny_class_is_one_subclass(monkeypatch):
    monkeypatch.setattr(george, "project", lambda z, seed, **shape: z)
    points, truth = ring(2)
    y = np.concatenate([np.zeros(len(truth), int), np.ones(10, int)])
    found = george.infer(evidence(y, np.concatenate([points, points[:10]])), QUICK)
    assert set(found[y == 0]) == {0, 1} and set(found[y == 1]) == {2}


def test_with_umap_finds_the_clusters_of_representations():
    """Two classes of 3 and 2 clusters in 20 dimensions; directions, as lengths are removed."""
    rng = np.random.default_rng(0)
    centers = np.eye(20)[:5] * 10
    truth = np.repeat(np.arange(5), 40)
    z = (centers[truth] + rng.normal(size=(200, 20))) * rng.uniform(0.5, 2, (200, 1))
    y = np.where(truth < 3, 0, 1)
    found = george.infer(evidence(y, z.astype(np.float16)), QUICK)
    assert adjusted_rand_score(truth, found) == 1
    assert set(found) == set(range(5))
