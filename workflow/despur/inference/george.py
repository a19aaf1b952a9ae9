"""Subclasses of GEORGE (Sohoni et al. 2020, Sec. 4): within each class, clusters of the stage-1 representations.

UMAP to two dimensions, then Gaussian mixtures of 2, 3, ... components; the number with the highest silhouette is kept.
Each cluster is then cut into ``overcluster`` more, of which those are kept that lie further apart and are harder. Our
deviation: the released code also wants 25 validation samples in each of them, which no inference sees here."""

import numpy as np
import pandas as pd
from scipy.special import log_softmax
from sklearn.metrics import silhouette_samples
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import normalize

from despur.inference.base import Evidence
from despur.numerics.umap import project
from despur.specs.settings import Settings, bool_, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    "stage1": component("methods", "erm", "Sohoni et al.: an ERM model; here the one that all methods share"),
    "components": int_(2, "released code of GEORGE: UMAP components", at_least=1),
    "neighbors": int_(10, "released code of GEORGE: UMAP", at_least=2),
    "min_dist": float_(0.0, "released code of GEORGE: UMAP", at_least=0, below=1),
    "unit_length": bool_(True, "released code of GEORGE: representations divided by their length"),
    "max_clusters": int_(10, "released code of GEORGE: at most so many in a class", at_least=2),
    "restarts": int_(3, "released code of GEORGE: n_init", at_least=1),
    "overcluster": int_(
        5, "released code on MNIST and CelebA: into so many each cluster is cut; 0: none is", at_least=0
    ),
    "scored": int_(
        10_000, "at most so many samples of a class enter a silhouette, whose cost is quadratic", at_least=10
    ),
}


def silhouette(points: Array, clusters: Array) -> float:
    """Mean over clusters of their samples' mean silhouette; -1 where there is but one cluster."""
    names = np.unique(clusters)
    if not 1 < len(names) < len(points):
        return -1.0
    each = silhouette_samples(points, clusters)
    return float(np.mean([each[clusters == name].mean() for name in names]))


def cluster(points: Array, settings: Settings, seed: int, rng: np.random.Generator) -> Array:
    """The Gaussian mixture of 2 to ``max_clusters`` components with the highest silhouette, (N,) from 0."""
    scored = rng.permutation(len(points))[: settings["scored"]]
    best, best_score = np.zeros(len(points), int), -1.0
    for k in range(2, min(settings["max_clusters"], len(points) - 1) + 1):
        found = GaussianMixture(k, n_init=settings["restarts"], random_state=seed).fit_predict(points)
        score = silhouette(points[scored], found[scored])
        if score > best_score:
            best, best_score = found, score
    return np.unique(best, return_inverse=True)[1]


def parts_of(points: Array, clusters: Array, settings: Settings, seed: int) -> Array:
    """Each cluster cut into ``overcluster`` parts, (N,): number / ``overcluster`` is the cluster."""
    count, parts = settings["overcluster"], settings["overcluster"] * clusters
    for name in np.unique(clusters):
        rows = np.flatnonzero(clusters == name)
        if len(rows) > count:
            parts[rows] += GaussianMixture(count, n_init=settings["restarts"], random_state=seed).fit_predict(
                points[rows]
            )
    return parts


def overcluster(
    points: Array, clusters: Array, losses: Array, settings: Settings, seed: int, rng: np.random.Generator
) -> Array:
    """Clusters (N,) of points (N,D), with those parts set apart that have a higher silhouette than before and than 0,
    a mean loss no lower than their cluster's, at least 25 samples and a 200th of all."""
    parts, scored = parts_of(points, clusters, settings, seed), rng.permutation(len(points))[: settings["scored"]]
    if len(np.unique(clusters[scored])) < 2 or len(np.unique(parts[scored])) == len(scored):
        return clusters
    rise = pd.DataFrame(
        {
            "before": silhouette_samples(points[scored], clusters[scored]),
            "after": silhouette_samples(points[scored], parts[scored]),
        }
    )
    rise = rise.groupby(parts[scored]).mean()
    size, loss = np.bincount(parts), np.bincount(parts, losses)
    whole_loss = np.bincount(clusters, losses) / np.bincount(clusters)
    kept = [
        part
        for part, before, after in rise.itertuples()
        if after > max(before, 0)
        and size[part] >= max(25, len(points) / 200)
        and loss[part] / size[part] >= whole_loss[part // settings["overcluster"]]
    ]
    return np.unique(np.where(np.isin(parts, kept), clusters.max() + 1 + parts, clusters), return_inverse=True)[1]


def infer(evidence: Evidence, settings: Settings) -> Array:
    """Subclasses, numbered through over classes. A class with no more samples than UMAP's neighbours is one
    subclass."""
    subclass, count = np.zeros(len(evidence.y), int), 0
    losses = -log_softmax(evidence.logits.astype(np.float64), axis=1)[np.arange(len(evidence.y)), evidence.y]
    for label in np.unique(evidence.y):
        rows = np.flatnonzero(evidence.y == label)
        found = np.zeros(len(rows), int)
        if len(rows) > settings["neighbors"]:
            z = evidence.z[rows].astype(np.float32)
            shape = {key: settings[key] for key in ("components", "neighbors", "min_dist")}
            points = project(normalize(z) if settings["unit_length"] else z, evidence.seed, **shape)
            found = cluster(points, settings, evidence.seed, evidence.rng)
            if settings["overcluster"]:
                found = overcluster(points, found, losses[rows], settings, evidence.seed, evidence.rng)
        subclass[rows] = count + found
        count += found.max() + 1
    return subclass
