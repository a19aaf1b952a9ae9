"""Iterative null-space projection (Ravfogel et al. 2020, Alg. 1), a baseline of Shen et al. 2021: train linear
classifiers of an attribute one after the other, and remove their directions from the representations.

Deviation: whether a classifier is good enough to remove its direction is asked of the training samples themselves, by
balanced accuracy, as a method sees no validation data; the released code asks dev data, by plain accuracy."""

import numpy as np

from despur.methods.families.fitted import Affine, AffineMethod
from despur.numerics.linear import logistic, support_vectors
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import bool_, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **on_stage1("erm", "best", "Baselines: train Enc with cross-entropy, then project its representations"),
    "groups": component("inference", "oracle", "the protected attribute"),
    "iterations": int_(300, "released code: largest number of classifiers; varied in Fig. 2", at_least=0),
    "by_class": bool_(True, "released code: each classifier sees one class, drawn at random"),
    "min_accuracy": float_(
        0.51, "released code (Moji), on dev data: a classifier below it removes nothing", at_least=0, at_most=1
    ),
    "attacker_strength": float_(0.1, "released code: C of the linear SVMs", above=0),
    "strength": float_(
        1.0, "C of the logistic regression after the projection; not stated (scikit-learn's default)", above=0
    ),
}


def balanced_accuracy(predicted: Array, truth: Array) -> float:
    """Mean over the values of ``truth`` of the share of right predictions. Chance is one over the number of values."""
    return float(np.mean([(predicted[truth == value] == value).mean() for value in np.unique(truth)]))


class INLP(AffineMethod):
    """Project onto the intersection of the null spaces of all classifiers, then fit the last layer again."""

    def fit_maps(self, z: Array, y: Array, rng: np.random.Generator) -> tuple[Affine, Affine]:
        basis = self.find_directions(z, y, rng)
        projection = np.eye(z.shape[1]) - basis @ basis.T
        self.found = {"removed_directions": basis.shape[1]}
        head = logistic(z @ projection.astype(z.dtype), y, self.task.num_classes, self.settings["strength"])
        return (projection, np.zeros(len(projection))), head

    def find_directions(self, z: Array, y: Array, rng: np.random.Generator) -> Array:
        """Alg. 1: an orthonormal basis (D,K) of the directions that the classifiers use."""
        s, a = self.settings, self.task.inferred
        basis = np.empty((z.shape[1], 0))
        for _ in range(s["iterations"]):
            rows = np.flatnonzero(y == rng.integers(self.task.num_classes)) if s["by_class"] else np.arange(len(y))
            if len(np.unique(a[rows])) < 2:
                continue
            x = z[rows] - (z[rows] @ basis.astype(z.dtype)) @ basis.T.astype(z.dtype)
            values, weights, biases = support_vectors(x, a[rows], s["attacker_strength"], refined=True)
            if balanced_accuracy(values[(x @ weights.T + biases).argmax(axis=1)], a[rows]) < s["min_accuracy"]:
                continue
            basis = extend(basis, weights)
        return basis


def extend(basis: Array, weights: Array) -> Array:
    """The basis (D,K), extended by the new directions of the rows of ``weights`` (M,D)."""
    rest = weights - (weights @ basis) @ basis.T
    _, size, directions = np.linalg.svd(rest, full_matrices=False)
    new = directions[size > 1e-6 * np.linalg.norm(weights)]
    return np.column_stack([basis, (new - (new @ basis) @ basis.T).T])
