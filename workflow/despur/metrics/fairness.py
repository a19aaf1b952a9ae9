"""Group fairness: true-positive-rate gap, and what a linear attacker reads off (Shen et al. 2021, Sec. 4)."""

import numpy as np
from sklearn.svm import LinearSVC

from despur.store import Array


def tpr_gap(predicted: Array, y: Array, a: Array) -> float:
    """Root mean square over classes of the difference in true positive rate between attribute values (Eq. 4).

    With more than two attribute values: the largest minus the smallest. A class that fewer than two attribute values
    have is left out; NaN if that leaves none.
    """
    gaps = []
    for label in np.unique(y):
        rates = [float((predicted[(y == label) & (a == value)] == label).mean()) for value in np.unique(a[y == label])]
        if len(rates) > 1:
            gaps.append(max(rates) - min(rates))
    return float(np.sqrt(np.mean(np.square(gaps)))) if gaps else float("nan")


def leakage(train: Array, train_a: Array, test: Array, test_a: Array) -> float:
    """Accuracy of a linear SVM that is fitted on training features (N,D) to tell the attribute, on test features."""
    if len(np.unique(train_a)) < 2:
        return float("nan")
    attacker = LinearSVC(C=0.1, class_weight="balanced", dual=False, max_iter=10_000, random_state=0)  # released code
    return float(attacker.fit(train, train_a).score(test, test_a))
