"""UMAP, for clusters and two-dimensional maps of representations."""

import warnings

import numpy as np
from sklearn.neighbors import NearestNeighbors

from despur.storage.store import Array

SMALL = 4096  # below this number of samples, UMAP's own neighbors are exact
SPARE = 10  # how many more neighbors than asked for are looked at


def project(
    z: Array, seed: int, components: int = 2, metric: str = "euclidean", neighbors: int = 15, min_dist: float = 0.1
) -> Array:
    """UMAP of ``z`` (N,d), (N,components). Defaults are those of UMAP. Seeded, so single-threaded."""
    from umap import UMAP

    if len(z) >= SMALL:
        keep_compiled()
    neighbor_lists = {"precomputed_knn": find_neighbors(z, neighbors, metric)} if neighbors < len(z) < SMALL else {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="n_jobs value|precomputed_knn")
        return UMAP(
            neighbors, components, metric=metric, min_dist=min_dist, random_state=seed, **neighbor_lists
        ).fit_transform(z)


def keep_compiled() -> None:
    """Let numba keep on disk what it can of UMAP's search among many samples: half of what each process compiles. (The
    other half takes functions as arguments, which numba keeps for one process only.)"""
    from pynndescent import kernels, utils

    for function in (
        kernels.generate_graph_update_array_batched,
        utils.build_candidates_owner,
        utils.sort_updates_by_block,
        utils.apply_sorted_graph_update_array,
    ):
        function.enable_caching()


def find_neighbors(z: Array, count: int, metric: str) -> tuple[Array, Array]:
    """The nearest samples of each of ``z`` (N,d), itself among them, and their distances, (N,count): bit-identical to
    those that UMAP finds among all N x N distances, which takes it longer than all else.

    scikit-learn finds some more candidates in double precision; distances to these alone are UMAP's. Where the last
    candidate is no further away than rounding could make it, all samples are candidates."""
    from umap.distances import named_distances

    candidates, double = min(count + SPARE, len(z)), z.astype(np.float64)
    about, rows = NearestNeighbors(n_neighbors=candidates, metric=metric).fit(double).kneighbors(double)
    distance = named_distances[metric]
    distances = np.array([[distance(z[i], z[j]) for j in near] for i, near in enumerate(rows)], np.float32)
    order = np.lexsort((rows, distances))[:, :count]  # of equal distances the lower row, as UMAP sorts
    rows, distances = (np.take_along_axis(values, order, axis=1) for values in (rows, distances))
    doubtful = about[:, -1] <= about[:, count - 1] + 1e-6 * (1 + about[:, -1])
    for i in np.flatnonzero(doubtful | ~z.any(axis=1)):  # the cosine of two zeros is 1 for UMAP, 0 for scikit-learn
        to_all = np.array([distance(z[i], other) for other in z], np.float32)
        rows[i] = to_all.argsort(kind="stable")[:count]
        distances[i] = to_all[rows[i]]
    return rows, distances
