"""UMAP, as clusters and maps of representations need it."""

import warnings
from typing import Any

import numpy as np

from despur.store import Array

SMALL = 4096  # samples up to which UMAP's neighbours are exact


def project(z: Array, seed: int, components: int = 2, metric: str = "euclidean", neighbors: int = 15, min_dist: float = 0.1) -> Array:
    """UMAP (N,d) -> (N,components), its defaults unless told otherwise; seeded, so single-threaded.

    Few samples' exact neighbours are found by scikit-learn: UMAP calls Python for every two samples.
    """
    from sklearn.neighbors import NearestNeighbors
    from umap import UMAP

    known: dict[str, Any] = {}
    if neighbors < len(z) < SMALL:
        distances, rows = NearestNeighbors(n_neighbors=neighbors, metric=metric).fit(z).kneighbors(z)
        known = {"precomputed_knn": (rows, distances.astype(np.float32))}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_jobs value|precomputed_knn")
        return UMAP(neighbors, components, metric=metric, min_dist=min_dist, random_state=seed, **known).fit_transform(z)
