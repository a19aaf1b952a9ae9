"""UMAP, as clusters and maps of representations need it."""

import warnings
from typing import Any

import numpy as np

from despur.storage.store import Array

SMALL = 4096  # samples up to which UMAP's neighbours are exact


def project(
    z: Array,
    seed: int,
    components: int = 2,
    metric: str = "euclidean",
    neighbors: int = 15,
    min_dist: float = 0.1,
    **known: Any,
) -> Array:
    """UMAP (N,d) -> (N,components), its defaults unless told otherwise; seeded, so single-threaded."""
    from umap import UMAP

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_jobs value|precomputed_knn")
        return UMAP(neighbors, components, metric=metric, min_dist=min_dist, random_state=seed, **known).fit_transform(
            z
        )


def draw(z: Array, seed: int, neighbors: int = 15) -> Array:
    """A map to look at, (N,d) -> (N,2). Few samples' neighbours, the same ones, are found by scikit-learn: UMAP calls
    Python for every two samples. (Clusters are left to UMAP alone: a rounding of distances can move them.)"""
    from sklearn.neighbors import NearestNeighbors

    if not neighbors < len(z) < SMALL:
        return project(z, seed)
    distances, rows = NearestNeighbors(n_neighbors=neighbors).fit(z).kneighbors(z)
    return project(z, seed, neighbors=neighbors, precomputed_knn=(rows, distances.astype(np.float32)))
