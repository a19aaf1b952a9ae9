"""Estimates of the mutual information between representations and labels."""

import numpy as np
from sklearn.linear_model import LogisticRegression

from despur.metrics.groups import mean
from despur.storage.store import Array

REVISION = 2  # the regression is converged, in float64
MEASURES = "mutual_information"  # what the names of its metrics begin with


def mutual_information(z: Array, labels: Array, fitted: Array | None = None, weights: Array | None = None) -> Array:
    """Eq. 18 of Zhang et al. 2022, (...), in nats: mean over samples of sum_y p(y|z) log(p(y|z) / p(y)).

    p(y|z) is a multinomial logistic regression on ``z`` (N,D); p(y) is the distribution of ``labels`` (N,) among the
    samples of the average; classes that have none there are left out. The regression is fitted on all samples and
    averaged over all (the paper), or fitted on ``fitted`` (rows, or bool (N,)) and averaged over the others
    (released code).
    ``weights`` (...,N): how often each sample counts in the average, by default once; the fit is not weighted.
    The fit is converged in float64, so that the number of threads does not matter.

    >>> import numpy as np
    >>> from despur.metrics import mutual_information
    >>> z, labels = np.array([[0.0], [1.0], [9.0], [10.0]]), np.array([0, 0, 1, 1])
    >>> round(float(mutual_information(z, labels)), 2)  # at most log 2
    0.52
    """
    weights = np.ones(len(z)) if weights is None else weights
    every, labels = np.arange(len(z)), np.asarray(labels)
    rows = every if fitted is None else every[fitted]
    others = rows if fitted is None else np.setdiff1d(every, rows)
    classes = np.unique(labels[rows])
    if len(classes) < 2:
        return np.zeros(weights.shape[:-1])
    z = z.astype(np.float64)
    regression = LogisticRegression(tol=1e-8, max_iter=5000, solver="newton-cg")
    posterior = regression.fit(z[rows], labels[rows]).predict_proba(z[others])
    prior = (labels[others][:, None] == classes).mean(axis=0)
    posterior, prior = posterior[:, prior > 0], prior[prior > 0]
    terms = np.sum(posterior * np.log(np.maximum(posterior, 1e-12) / prior), axis=1)
    return mean(terms, weights[..., others])
