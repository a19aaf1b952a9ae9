"""Subclasses of GEORGE (Sohoni et al. 2020, Sec. 4): within each class, clusters of the stage-1 representations.

UMAP to two dimensions, then mixtures of 2, 3, ... Gaussians. The mixture with the highest silhouette is used. Each
cluster is then split into ``overcluster`` subclusters. A subcluster becomes a cluster of its own if it is separate,
hard and large (``overcluster`` below says when). Our deviation: the released code also requires 25 validation samples
in it; here no inference reads validation data."""

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

NAMES_NO_CLASS = True

SETTINGS = {
    "stage1": component("methods", "erm", "Sohoni et al. 2020, Sec. 4: an ERM model"),
    "components": int_(2, "released code of GEORGE: dimensions of UMAP", at_least=1),
    "neighbors": int_(10, "released code of GEORGE: UMAP", at_least=2),
    "min_dist": float_(0.0, "released code of GEORGE: UMAP", at_least=0, below=1),
    "unit_length": bool_(True, "released code of GEORGE: representations are normalized to length 1"),
    "max_clusters": int_(10, "released code of GEORGE: the most clusters of a class", at_least=2),
    "restarts": int_(3, "released code of GEORGE: n_init", at_least=1),
    "overcluster": int_(5, "released code on MNIST and CelebA: subclusters of each cluster; 0: none", at_least=0),
    "min_size": int_(25, "released code of GEORGE: the fewest samples of a subcluster that is kept", at_least=1),
    "min_share": float_(
        0.005, "released code of GEORGE: the smallest share of a class that is kept", at_least=0, at_most=1
    ),
    "scored": int_(10_000, "ours: the most samples of a class in a silhouette, whose cost is quadratic", at_least=10),
}


def silhouette(points: Array, clusters: Array) -> float:
    """Mean over clusters of the mean silhouette of their samples; -1 if there is only one cluster. ``points`` (N,D),
    ``clusters`` (N,)."""
    names = np.unique(clusters)
    if not 1 < len(names) < len(points):
        return -1.0
    silhouettes = silhouette_samples(points, clusters)
    return float(np.mean([silhouettes[clusters == name].mean() for name in names]))


def cluster(points: Array, settings: Settings, seed: int, rng: np.random.Generator) -> Array:
    """The clusters (N,), from 0, of the mixture of 2 to ``max_clusters`` Gaussians with the highest
    silhouette. ``points``: (N,D)."""
    scored = rng.permutation(len(points))[: settings["scored"]]
    best, best_score = np.zeros(len(points), int), -1.0
    for k in range(2, min(settings["max_clusters"], len(points) - 1) + 1):
        clusters = GaussianMixture(k, n_init=settings["restarts"], random_state=seed).fit_predict(points)
        score = silhouette(points[scored], clusters[scored])
        if score > best_score:
            best, best_score = clusters, score
    return np.unique(best, return_inverse=True)[1]


def split_clusters(points: Array, clusters: Array, settings: Settings, seed: int) -> Array:
    """Subcluster of each sample, (N,): those of cluster c are numbered from ``overcluster`` x c."""
    count = settings["overcluster"]
    subclusters = count * clusters
    for name in np.unique(clusters):
        rows = np.flatnonzero(clusters == name)
        if len(rows) > count:
            mixture = GaussianMixture(count, n_init=settings["restarts"], random_state=seed)
            subclusters[rows] += mixture.fit_predict(points[rows])
    return subclusters


def mean_silhouettes(points: Array, clusters: Array, groups: Array) -> pd.Series:
    """Mean over each of ``groups`` of the silhouettes of its samples in ``clusters``; the index names the groups."""
    return pd.Series(silhouette_samples(points, clusters)).groupby(groups).mean()


def overcluster(
    points: Array, clusters: Array, losses: Array, settings: Settings, seed: int, rng: np.random.Generator
) -> Array:
    """Clusters (N,) of which some subclusters are made clusters of their own; numbered from 0.

    A subcluster is separate if its mean silhouette is above 0 and above that of its samples in ``clusters`` (N,), hard
    if its mean loss is not below that of its cluster, and large if it has ``min_size`` samples and the share
    ``min_share`` of all. ``points`` (N,D), ``losses`` (N,)."""
    subclusters = split_clusters(points, clusters, settings, seed)
    scored = rng.permutation(len(points))[: settings["scored"]]
    if len(np.unique(clusters[scored])) < 2 or len(np.unique(subclusters[scored])) == len(scored):
        return clusters  # there is no silhouette
    before, after = (
        mean_silhouettes(points[scored], assigned[scored], subclusters[scored]) for assigned in (clusters, subclusters)
    )
    samples = pd.DataFrame({"cluster": clusters, "subcluster": subclusters, "loss": losses})
    table = samples.groupby("subcluster").agg(
        cluster=("cluster", "first"), size=("loss", "size"), loss=("loss", "mean")
    )
    separate = (after > before.clip(lower=0)).reindex(table.index, fill_value=False)
    hard = table["loss"] >= table["cluster"].map(samples.groupby("cluster")["loss"].mean())
    large = table["size"] >= max(settings["min_size"], settings["min_share"] * len(points))
    is_separate = np.isin(subclusters, table.index[separate & hard & large])
    return np.unique(np.where(is_separate, clusters.max() + 1 + subclusters, clusters), return_inverse=True)[1]


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The subclass of each sample, its inferred attribute: (N,), from 0, with different numbers in different classes. A
    class with no more samples than ``neighbors`` is one subclass.

    >>> from despur.inference.base import infer as infer_by_name
    >>> z = np.random.default_rng(0).normal(size=(60, 3)) + 20 * (np.arange(60) < 30)[:, None]
    >>> evidence = Evidence(np.zeros(60, int), 1, np.random.default_rng(0), seed=0, z=z, logits=np.zeros((60, 2)))
    >>> len(np.unique(infer_by_name("george+max_clusters=2+overcluster=0", evidence)))
    2
    """
    subclass, count = np.zeros(len(evidence.y), int), 0
    losses = -log_softmax(evidence.logits.astype(np.float64), axis=1)[np.arange(len(evidence.y)), evidence.y]
    for label in np.unique(evidence.y):
        rows = np.flatnonzero(evidence.y == label)
        clusters = np.zeros(len(rows), int)
        if len(rows) > settings["neighbors"]:
            z = evidence.z[rows].astype(np.float32)
            shape = {key: settings[key] for key in ("components", "neighbors", "min_dist")}
            points = project(normalize(z) if settings["unit_length"] else z, evidence.seed, **shape).astype(np.float64)
            clusters = cluster(points, settings, evidence.seed, evidence.rng)
            if settings["overcluster"]:
                clusters = overcluster(points, clusters, losses[rows], settings, evidence.seed, evidence.rng)
        subclass[rows] = count + clusters
        count += clusters.max() + 1
    return subclass
