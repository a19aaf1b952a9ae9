"""Linear classifiers that minimize convex losses, for attackers, projections and refitted last layers. No torch."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from despur.storage.store import Array


def support_vectors(x: Array, labels: Array, strength: float = 0.1) -> tuple[Array, Array, Array]:
    """The linear SVM of the released code of Shen et al. 2021, one value against the rest: values (K,), weights (K,D),
    biases (K,).

    The minimizer of ``LinearSVC(C=strength, class_weight="balanced", dual=False)``: squared hinge loss, the bias is
    regularized, too. Found by Newton's method, which is faster than LIBLINEAR on large data. ``x`` (N,D), ``labels``
    (N,)."""
    values, code, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    balance = len(labels) / (len(values) * sizes)
    rows = np.column_stack([x, np.ones(len(x))]).astype(np.float32)
    if len(values) == 2:
        second = _squared_hinge(rows, code == 1, strength * balance[code])
        solutions = np.stack([-second, second])
    else:  # as LIBLINEAR: class weights only for the one value, not for the rest
        solutions = np.stack(
            [_squared_hinge(rows, code == k, strength * np.where(code == k, balance[k], 1)) for k in range(len(values))]
        )
    return values, solutions[:, :-1], solutions[:, -1]


def _squared_hinge(x: Array, positive: Array, cost: Array, tolerance: float = 1e-9, steps: int = 100) -> Array:
    """Minimizer w (D,) of |w|^2 / 2 + sum_i cost_i max(0, 1 - s_i w.x_i)^2, s_i = 1 if ``positive``, else -1. Strictly
    convex, so unique. ``x`` (N,D), ``positive`` bool (N,), ``cost`` (N,)."""
    sign = np.where(positive, 1.0, -1.0).astype(np.float32)
    w, slack = np.zeros(x.shape[1]), np.ones(len(x), np.float32)
    value = float(cost.sum())
    first = np.inf
    for _ in range(steps):
        active = slack > 0
        inside, weight = x[active], (2 * cost[active]).astype(np.float32)
        gradient = w - inside.T @ (weight * sign[active] * slack[active])
        first = min(first, float(np.linalg.norm(gradient)))
        hessian = np.eye(len(w)) + (inside.T * weight) @ inside
        direction = -np.linalg.solve(hessian, gradient)
        slope = float(gradient @ direction)
        if -slope <= tolerance * max(value, 1e-12):
            break
        size = 1.0
        while size > 1e-6:  # Armijo's rule; near the end, full steps are taken
            candidate = w + size * direction
            trial = 1 - sign * (x @ candidate.astype(np.float32))
            new_value = float(candidate @ candidate / 2 + cost @ np.square(np.maximum(trial, 0), dtype=np.float64))
            if new_value <= value + 1e-4 * size * slope:
                break
            size /= 2
        w, slack, value = candidate, trial, new_value
    return w


def logistic(
    x: Array, y: Array, num_classes: int, strength: float = 1.0, penalty: str = "l2", intercept: bool = True
) -> tuple[Array, Array]:
    """Regularized logistic regression: weights (C,D) and biases (C,) of the logits of all classes.

    ``x`` (N,D), ``y`` (N,), ``strength``: scikit-learn's C, ``penalty``: l1 or l2. Raises ValueError for a class
    without samples."""
    missing = np.setdiff1d(np.arange(num_classes), y)
    if len(missing):
        raise ValueError(
            f"no training sample of class {missing[0]}: a classifier of all {num_classes} classes cannot be fitted"
        )
    solver = {"solver": "lbfgs", "l1_ratio": 0.0} if penalty == "l2" else {"solver": "saga", "l1_ratio": 1.0}
    model = LogisticRegression(C=strength, fit_intercept=intercept, max_iter=10_000, random_state=0, **solver).fit(x, y)
    weights, biases = model.coef_, np.broadcast_to(model.intercept_, len(model.coef_))
    if num_classes == 2:  # scikit-learn has one row, of the second class; two rows give the same probabilities
        weights, biases = (np.concatenate([-values / 2, values / 2]) for values in (weights, biases))
    return weights, biases
