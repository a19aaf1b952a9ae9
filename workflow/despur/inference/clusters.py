"""Clusters of stage-1 representations: UMAP to two dimensions, then a Gaussian mixture or k-means (App. E.2.3 of Zhang
et al. 2022)."""

from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from despur.inference.base import Evidence, match_labels
from despur.numerics.umap import project
from despur.specs.settings import Settings, choice, component, int_
from despur.storage.store import Array

SETTINGS = {
    "stage1": component("methods", "erm", "Sec. 4: a regularized ERM model"),
    "algorithm": choice("gmm", "released code; App. E.2.3 says K-means or GMM", "gmm", "kmeans"),
    "metric": choice(
        "euclidean", "UMAP's default; cosine ignores the length of a representation", "euclidean", "cosine"
    ),
    "components": int_(2, "App. E.2.3: UMAP components", at_least=2),
    "restarts": int_(10, "released code: n_init", at_least=1),
}


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The cluster of each sample, (N,): one cluster for each class, matched with classes for the highest accuracy.

    >>> import numpy as np
    >>> z = np.random.default_rng(0).normal(size=(40, 3)) + 20 * (np.arange(40) < 20)[:, None]
    >>> evidence = Evidence((np.arange(40) < 20).astype(int), 2, np.random.default_rng(0), seed=0, z=z)
    >>> settings = {"algorithm": "gmm", "metric": "euclidean", "components": 2, "restarts": 1}
    >>> bool((infer(evidence, settings) == evidence.y).all())
    True
    """
    points = project(evidence.z.astype("float32"), evidence.seed, settings["components"], settings["metric"])
    algorithm, k = {"gmm": GaussianMixture, "kmeans": KMeans}[settings["algorithm"]], evidence.num_classes
    clusters = algorithm(k, n_init=settings["restarts"], random_state=evidence.seed).fit_predict(points)
    return match_labels(clusters, evidence.y, k)
