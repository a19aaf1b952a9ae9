"""UMAP, for clusters and two-dimensional maps of representations."""

import warnings
from typing import Any

import numpy as np

from despur.storage.store import Array

SMALL = 4096  # up to this number of samples, UMAP's own neighbors are exact


def project(
    z: Array,
    seed: int,
    components: int = 2,
    metric: str = "euclidean",
    neighbors: int = 15,
    min_dist: float = 0.1,
    **known: Any,
) -> Array:
    """UMAP of ``z`` (N,d), (N,components). Defaults are those of UMAP. Seeded, so single-threaded."""
    from umap import UMAP

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_jobs value|precomputed_knn")
        return UMAP(neighbors, components, metric=metric, min_dist=min_dist, random_state=seed, **known).fit_transform(
            z
        )


def draw(z: Array, seed: int, neighbors: int = 15) -> Array:
    """A two-dimensional map for figures, (N,d) -> (N,2).

    For few samples scikit-learn finds the neighbors, which is faster. They are the same, but their distances are
    rounded differently, which could change clusters; so :func:`project` alone is used for these."""
    from sklearn.neighbors import NearestNeighbors

    if not neighbors < len(z) < SMALL:
        return project(z, seed)
    distances, rows = NearestNeighbors(n_neighbors=neighbors).fit(z).kneighbors(z)
    return project(z, seed, neighbors=neighbors, precomputed_knn=(rows, distances.astype(np.float32)))
