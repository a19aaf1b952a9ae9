"""Selection among hyper-parameter settings by accuracy and fairness on validation data."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.storage.store import Array


def near_best_accuracy(accuracy: Array, gap: Array, margin: float) -> int:
    """Position of the setting with the lowest GAP among those whose accuracy is within ``margin`` of the best. Of equal
    GAPs, the most accurate; then the first. ``accuracy``, ``gap``: shares, (M,).

    Shen et al. 2021, Experiments: "minimize GAP while maintaining accuracy as close as possible to the best-achievable
    value". Raises ValueError for an accuracy that is NaN.

    >>> import numpy as np
    >>> from despur.metrics import near_best_accuracy
    >>> near_best_accuracy(np.array([0.90, 0.89, 0.70]), np.array([0.30, 0.10, 0.05]), margin=0.02)
    1
    """
    accuracy, gap = np.asarray(accuracy), np.asarray(gap)
    if np.isnan(accuracy).any():
        raise ValueError("accuracy: NaN; leave out these settings")
    allowed = np.flatnonzero(accuracy >= accuracy.max() - margin)
    return int(allowed[np.lexsort((-accuracy[allowed], gap[allowed]))[0]])


def distance_to_optimum(accuracy: Array, fairness: Array, best: tuple[float, float] | None = None) -> Array:
    """DTO (Han et al. 2022, fairlib), (M,): Euclidean distance of (``accuracy``, ``fairness``), (M,) each, to the
    ``best`` values, as shares of them.

    ``best``: by default the largest accuracy and the largest fairness, perhaps of two settings. Fairness is 1 - GAP.
    Raises ValueError for NaN.

    >>> import numpy as np
    >>> from despur.metrics import distance_to_optimum
    >>> distance_to_optimum(np.array([0.9, 0.8]), np.array([0.7, 0.9])).round(3)
    array([0.222, 0.111])
    """
    if np.isnan(accuracy).any() or np.isnan(fairness).any():
        raise ValueError("accuracy or fairness: NaN; leave out these settings")
    most_accurate, fairest = best or (float(accuracy.max()), float(fairness.max()))
    return np.hypot(1 - accuracy / most_accurate, 1 - fairness / fairest)


def on_pareto_front(accuracy: Array, harm: Array) -> Array:
    """Whether no other setting is both more accurate and less harmful (Shen et al. 2021, footnote 3), bool (M,).
    ``accuracy``, ``harm``: (M,).

    >>> import numpy as np
    >>> from despur.metrics import on_pareto_front
    >>> on_pareto_front(np.array([0.9, 0.8, 0.7]), np.array([0.3, 0.1, 0.2]))
    array([ True,  True, False])
    """
    accuracy, harm = np.asarray(accuracy), np.asarray(harm)
    beaten = (accuracy[None, :] > accuracy[:, None]) & (harm[None, :] < harm[:, None])
    return np.logical_not(beaten.any(axis=1))


def sweep_means(metrics: pd.DataFrame, settings: Sequence[str], split: str) -> pd.DataFrame:
    """Mean over seeds of accuracy and GAP, columns average_accuracy and gap, for each setting of a sweep.

    ``metrics``: rows of ``metrics.csv``; ``settings``: the columns of the sweep; ``split``: the one that selects."""
    chosen = (
        metrics["metric"].isin(["average_accuracy", "gap"])
        & (metrics["split"] == split)
        & (metrics["selection"] == "best")
    )
    return metrics[chosen].groupby([*settings, "metric"])["value"].mean().unstack("metric")


def select(
    means: pd.DataFrame, rule: str = "near_best_accuracy", margin: float = 0.01, best: tuple[float, float] | None = None
) -> tuple[object, ...]:
    """The setting that a rule selects from :func:`sweep_means`: its values, in the order of the sweep's keys.

    ``rule``: ``near_best_accuracy`` with its ``margin`` (not stated in the paper), or ``dto`` with ``best`` (see
    :func:`distance_to_optimum`). A setting without accuracy or GAP is not selected. Raises ValueError for another rule,
    and where no setting is left."""
    means = means[["average_accuracy", "gap"]].dropna()
    if means.empty:
        raise ValueError("no setting has an accuracy and a GAP")
    accuracy, gap = (means[name].to_numpy() for name in ("average_accuracy", "gap"))
    if rule == "near_best_accuracy":
        position = near_best_accuracy(accuracy, gap, margin)
    elif rule == "dto":
        position = int(distance_to_optimum(accuracy, 1 - gap, best).argmin())
    else:
        raise ValueError(f"selection rule {rule}: must be near_best_accuracy or dto")
    values = means.index[position]
    return values if isinstance(values, tuple) else (values,)
