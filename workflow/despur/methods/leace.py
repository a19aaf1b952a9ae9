"""LEACE (Belrose et al. 2023): the smallest affine change of representations after which no linear classifier of an
attribute is better than chance.

The closed form is short, so it stands here. The authors' library, ``concept-erasure``, has had no release since
January 2024; by default it computes another map, with a shrunk covariance and without correlations below .01. With
``shrinkage=False, svd_tol=1e-6`` it agrees with this file (tests/oracles/test_concept_erasure.py). Other tests compare
with the least-squares problem that both solve."""

import numpy as np

from despur.methods.families.fitted import Affine, AffineMethod
from despur.numerics.linear import logistic
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import component, float_
from despur.storage.store import Array

SETTINGS = {
    **on_stage1("erm", "best", "as inlp: the representations of the CE model"),
    "groups": component("inference", "oracle", "the protected attribute"),
    "strength": float_(
        1.0, "C of the logistic regression after the erasure; not stated (scikit-learn's default)", above=0
    ),
}


def erasure(x: Array, a: Array) -> Affine:
    """Theorem 4.2: r(x) = x - W^+ P W (x - mu), P the projection onto the columns of W Sigma_xz, W =
    (Sigma_xx^(1/2))^+."""
    mean, one_hot = x.mean(axis=0, dtype=np.float64).astype(x.dtype), (a[:, None] == np.unique(a)).astype(np.float64)
    centered = x - mean  # as precise as x: with a less precise Sigma_xx the erasure is complete, but not the smallest
    values, vectors = np.linalg.eigh((centered.T @ centered).astype(np.float64) / len(x))
    kept = values > values[-1] * len(values) * np.finfo(np.float32).eps  # directions in which the representations vary
    root, basis = np.sqrt(values[kept]), vectors[:, kept]
    cross = centered.T.astype(np.float64) @ (one_hot - one_hot.mean(axis=0)) / len(x)
    left, size, _ = np.linalg.svd((basis / root).T @ cross, full_matrices=False)
    span = left[:, size > 1e-6]  # whitened, they are correlations up to the spread of the attribute
    change = (basis * root) @ span @ span.T @ (basis / root).T
    return np.eye(len(mean)) - change, change @ mean


class LEACE(AffineMethod):
    """Erase the attribute from representations, then fit the last layer again."""

    def fit_maps(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        weight, bias = erasure(z, self.task.inferred)
        return (weight, bias), logistic(z @ weight.T + bias, y, self.task.num_classes, self.settings["strength"])
