"""Environment inference of EIIL (Creager et al. 2021, Sec. 3; settings of Zhang et al. 2022, App. E.2.5): two
environments for which the fixed stage-1 model violates the IRM objective most.

f_i are the stage-1 logits of sample i, p_i their softmax, and q_i = sigmoid(a_i) its probability of the first
environment. Over a, maximize

    J = (G_1^2 + G_2^2) / 2,   G_1 = mean_i q_i g_i,   G_2 = mean_i (1 - q_i) g_i,
    g_i = d/dw CE(w f_i, y_i) at w = 1
        = sum_c p_ic f_ic - f_i,y_i,
    dJ/da_i = (G_1 - G_2) g_i q_i (1 - q_i) / n
            = mean_j(u_j g_j) g_i (1 - u_i^2) / 4n   with u = tanh(a / 2) = 2 q - 1.

Since g is fixed, a step needs no automatic differentiation, hence no torch. J is convex in q, so that its maximum
splits the samples by the sign of g. A correct prediction has the largest logit, so that g <= 0. So environment 1
collects samples that stage 1 predicts wrong with high confidence.

For large n, such as the 48,000 samples of CMNIST*, Adam's epsilon is not small compared with the gradient. At the
published learning rate, some samples that stage 1 predicts with high confidence keep their random initial environment;
with a larger ``ascent_rate`` they do not."""

import numpy as np
from scipy.special import logsumexp, softmax

from despur.inference.base import Evidence
from despur.specs.settings import Settings, component, float_, int_
from despur.storage.store import Array

NAMES_NO_CLASS = True

SETTINGS = {
    "stage1": component("methods", "erm", "App. E.2.5: the same initial ERM model as CNC"),
    "ascent_rate": float_(1e-3, "App. E.2.5: learning rate of Adam; Table A.9 sweeps it", above=0),
    "steps": int_(10_000, "App. E.2.5: full-batch steps; Table A.9 sweeps it", at_least=0),
}
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # PyTorch's defaults for Adam, as in the released code


def scale_gradients(logits: Array, y: Array) -> Array:
    """g, (N,): derivative of each sample's cross-entropy by a factor of its ``logits`` (N,C), at factor 1."""
    return (softmax(logits, axis=1) * logits).sum(axis=1) - logits[np.arange(len(y)), y]


def objective_gradient(a: Array, g: Array) -> Array:
    """dJ/da, (N,), for a and g (N,)."""
    u = np.tanh(a / 2)
    return ((u * g).sum() / (4 * len(g) ** 2)) * g * (1 - u * u)


def maximize(a: Array, g: Array, rate: float, steps: int) -> Array:
    """``a`` (N,) after ``steps`` steps of Adam that maximize J. ``rate``: learning rate."""
    a, first, second = a.copy(), np.zeros_like(a), np.zeros_like(a)
    for step in range(1, steps + 1):
        gradient = objective_gradient(a, g)
        first += (1 - BETA_1) * (gradient - first)
        second += (1 - BETA_2) * (gradient**2 - second)
        a += (rate / (1 - BETA_1**step)) * first / (np.sqrt(second / (1 - BETA_2**step)) + EPSILON)
    return a


def infer(evidence: Evidence, settings: Settings) -> Array:
    """The environment of each sample, (N,), by q > 1/2. J is symmetric: environment 1 is the one with the higher mean
    stage-1 loss; it may be empty.

    >>> logits, y = np.array([[3.0, 0.0], [2.0, 0.0], [0.0, 2.0]]), np.array([0, 0, 0])
    >>> infer(Evidence(y, 2, np.random.default_rng(0), 0, logits=logits), {"ascent_rate": 0.1, "steps": 500})
    array([0, 0, 1])
    """
    logits, y = evidence.logits.astype(np.float32), evidence.y
    start = evidence.rng.standard_normal(len(y), dtype=np.float32)
    environment = maximize(start, scale_gradients(logits, y), settings["ascent_rate"], settings["steps"]) > 0
    loss = logsumexp(logits, axis=1) - logits[np.arange(len(y)), y]
    if environment.all() or (environment.any() and loss[environment].mean() < loss[~environment].mean()):
        environment = ~environment
    return environment.astype(int)
