"""Environment inference of EIIL (Creager et al. 2021, Sec. 3; settings of Zhang et al. 2022, App. E.2.5): the two
environments between which the stage-1 model, unchanged, violates the IRM objective most.

With f_i the stage-1 logits of sample i, p_i their softmax and q_i = sigmoid(a_i) its chance of the first environment,
maximise over a

    J = (G_1^2 + G_2^2) / 2,   G_1 = mean_i q_i g_i,   G_2 = mean_i (1 - q_i) g_i, g_i = d/dw CE(w f_i, y_i) at w = 1
    =  sum_c p_ic f_ic - f_i,y_i, dJ/da_i = (G_1 - G_2) g_i q_i (1 - q_i) / n  =  mean_j(u_j g_j) g_i (1 - u_i^2) / 4n
    with u = tanh(a / 2) = 2 q - 1.

Since g is fixed, a step is a few passes over n numbers: no autograd, hence no torch. J is convex in q: its maximum
splits the samples by the sign of g. A sample that stage 1 gets right has g <= 0, so that environment 1 gathers what it
gets confidently wrong.

Adam's epsilon is not small beside a gradient over n = 48,000: with the published rate, some samples that stage 1 is
sure of stay on the side on which they were drawn. On CMNIST* (released colours, seed 0) environment 1 holds all 240
minority samples and 1,304 of the 47,760 others; at ten times the rate, none of them."""

import numpy as np
from scipy.special import logsumexp, softmax

from despur.inference.base import Evidence
from despur.specs.settings import Settings, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    "stage1": component("methods", "erm", "App. E.2.5: the same initial ERM model as CNC"),
    "ascent_rate": float_(1e-3, "App. E.2.5: learning rate of Adam; Table A.9 sweeps it", above=0),
    "steps": int_(10_000, "App. E.2.5; Table A.9 sweeps it: full-batch steps", at_least=0),
}
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8  # PyTorch's defaults for Adam, as in the released code


def scale_gradients(logits: Array, y: Array) -> Array:
    """g, (N,): derivative of each sample's cross-entropy by a factor on its logits (N,C), at 1."""
    return (softmax(logits, axis=1) * logits).sum(axis=1) - logits[np.arange(len(y)), y]


def ascent(a: Array, g: Array) -> Array:
    """dJ/da, (N,)."""
    u = np.tanh(a / 2)
    return ((u * g).sum() / (4 * len(g) ** 2)) * g * (1 - u * u)


def maximise(a: Array, g: Array, rate: float, steps: int) -> Array:
    """``a`` (N,) after so many steps of Adam that raise J."""
    a, first, second = a.copy(), np.zeros_like(a), np.zeros_like(a)
    for step in range(1, steps + 1):
        gradient = ascent(a, g)
        first += (1 - BETA_1) * (gradient - first)
        second += (1 - BETA_2) * (gradient**2 - second)
        a += (rate / (1 - BETA_1**step)) * first / (np.sqrt(second / (1 - BETA_2**step)) + EPSILON)
    return a


def infer(evidence: Evidence, settings: Settings) -> Array:
    """Environments by q > 1/2, (N,): 0 where stage 1 loses less, as J does not tell them apart, and 1, which may be
    empty."""
    logits, y = evidence.logits.astype(np.float32), evidence.y
    start = evidence.rng.standard_normal(len(y), dtype=np.float32)
    found = maximise(start, scale_gradients(logits, y), settings["ascent_rate"], settings["steps"]) > 0
    loss = logsumexp(logits, axis=1) - logits[np.arange(len(y)), y]
    if found.all() or (found.any() and loss[found].mean() < loss[~found].mean()):
        found = ~found
    return found.astype(int)
