"""Linear classifiers that minimize convex losses, for attackers, projections and refitted last layers. No torch."""

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from despur.storage.store import Array

TOLERANCE, STEPS = 1e-9, 100  # of Newton's method: the relative gain at which it ends, and the most steps


def support_vectors(
    x: Array, labels: Array, strength: float = 0.1, refined: bool = False
) -> tuple[Array, Array, Array]:
    """The linear SVM of the released code of Shen et al. 2021, one value against the rest: values (K,), weights (K,D),
    biases (K,).

    The minimizer of ``LinearSVC(C=strength, class_weight="balanced", dual=False)``: squared hinge loss, the bias is
    regularized, too. Found by Newton's method, which is faster than LIBLINEAR on large data. ``x`` (N,D), ``labels``
    (N,). ``refined``: whether to go on where rounding hides which step is better; predictions do not need it."""
    values, code, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    balance = len(labels) / (len(values) * sizes)
    rows = np.column_stack([x, np.ones(len(x))]).astype(np.float32)
    if len(values) == 2:
        second = _squared_hinge(rows, code == 1, strength * balance[code], refined)
        solutions = np.stack([-second, second])
    else:  # as LIBLINEAR: class weights only for the one value, not for the rest
        solutions = np.stack(
            [
                _squared_hinge(rows, code == k, strength * np.where(code == k, balance[k], 1), refined)
                for k in range(len(values))
            ]
        )
    return values, solutions[:, :-1], solutions[:, -1]


def _squared_hinge(x: Array, positive: Array, cost: Array, refined: bool) -> Array:
    """Minimizer w (D,) of |w|^2 / 2 + sum_i cost_i max(0, 1 - s_i w.x_i)^2, s_i = 1 if ``positive``, else -1. Strictly
    convex, so unique. ``x`` (N,D), ``positive`` bool (N,), ``cost`` (N,)."""
    sign = np.where(positive, 1.0, -1.0).astype(np.float32)
    w, slack = np.zeros(x.shape[1]), np.ones(len(x), np.float32)
    value = float(cost.sum())
    for _ in range(STEPS):
        active = slack > 0
        inside, weight = x[active], (2 * cost[active]).astype(np.float32)
        gradient = w - inside.T @ (weight * sign[active] * slack[active])
        hessian = np.eye(len(w)) + (inside.T * weight) @ inside
        direction = -np.linalg.solve(hessian, gradient)
        slope = float(gradient @ direction)
        if -slope <= TOLERANCE * max(value, 1e-12):
            break
        size = 1.0
        while size > 1e-6:  # Armijo's rule; near the end, full steps are taken
            candidate = w + size * direction
            trial = 1 - sign * (x @ candidate.astype(np.float32))
            new_value = float(candidate @ candidate / 2 + cost @ np.square(np.maximum(trial, 0), dtype=np.float64))
            if new_value <= value + 1e-4 * size * slope:
                break
            size /= 2
        if size <= 1e-6 and not refined:
            break
        w, slack, value = candidate, trial, new_value
    return w


def logistic(
    x: Array, y: Array, num_classes: int, strength: float = 1.0, intercept: bool = True
) -> tuple[Array, Array]:
    """Logistic regression with an l2 penalty: weights (C,D) and biases (C,) of the logits of all classes.

    ``x`` (N,D), ``y`` (N,), ``strength``: scikit-learn's C. Raises ValueError for a class without samples."""
    require_classes(y, num_classes)
    model = LogisticRegression(C=strength, fit_intercept=intercept, max_iter=10_000).fit(x, y)
    return list_all_classes(model.coef_, np.broadcast_to(model.intercept_, len(model.coef_)))


def liblinear(x: Array, y: Array, num_classes: int, strength: float, penalty: str) -> tuple[Array, Array]:
    """As :func:`logistic`, by LIBLINEAR: the bias is penalized, too, and more than two classes are fitted one against
    the rest. ``penalty``: l1 or l2."""
    require_classes(y, num_classes)
    model = LogisticRegression(
        C=strength, solver="liblinear", l1_ratio=float(penalty == "l1"), max_iter=1000, random_state=0
    )
    fits = [clone(model).fit(x, y == label) for label in ([1] if num_classes == 2 else range(num_classes))]
    return list_all_classes(*(np.concatenate([getattr(fit, name) for fit in fits]) for name in ("coef_", "intercept_")))


def require_classes(y: Array, num_classes: int) -> None:
    """Raises ValueError for a class without samples."""
    missing = np.setdiff1d(np.arange(num_classes), y)
    if len(missing):
        raise ValueError(
            f"no training sample of class {missing[0]}: a classifier of all {num_classes} classes cannot be fitted"
        )


def list_all_classes(weights: Array, biases: Array) -> tuple[Array, Array]:
    """Of two classes, scikit-learn has one row, of the second; two rows give the same probabilities."""
    if len(weights) > 1:
        return weights, biases
    return np.concatenate([-weights / 2, weights / 2]), np.concatenate([-biases / 2, biases / 2])
