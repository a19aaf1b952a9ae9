"""Which of several hyper-parameter settings is reported: accuracy and fairness on validation data have to be
weighed."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.storage.store import Array


def near_best_accuracy(accuracy: Array, gap: Array, margin: float) -> int:
    """Position of the lowest GAP among settings whose accuracy is within ``margin`` of the best; ties: more accurate,
    first.

    Shen et al. 2021, Experiments: "minimise GAP while maintaining accuracy as close as possible to the best-achievable
    value"."""
    allowed = np.flatnonzero(accuracy >= accuracy.max() - margin)
    return int(allowed[np.lexsort((-accuracy[allowed], gap[allowed]))[0]])


def distance_to_optimum(accuracy: Array, fairness: Array, best: tuple[float, float] | None = None) -> Array:
    """DTO (Han et al. 2022, fairlib): Euclidean distance of (accuracy, fairness) to the ``best`` of each, as shares of
    it. (M,).

    ``best``: by default the largest that occur, which no one setting need reach. Fairness is 1 - GAP.
    """
    most_accurate, fairest = best or (float(accuracy.max()), float(fairness.max()))
    return np.hypot(1 - accuracy / most_accurate, 1 - fairness / fairest)


def on_pareto_front(accuracy: Array, harm: Array) -> Array:
    """Which settings no other beats in both (Shen et al. 2021, footnote 3): none is more accurate *and* less harmful.
    bool (M,)."""
    beaten = (accuracy[None, :] > accuracy[:, None]) & (harm[None, :] < harm[:, None])
    return np.logical_not(beaten.any(axis=1))


def sweep_means(metrics: pd.DataFrame, settings: Sequence[str], split: str, selection: str = "best") -> pd.DataFrame:
    """Accuracy and GAP of each setting of a sweep, averaged over seeds: rows of ``metrics.csv`` of the split that
    selects."""
    wanted = (
        metrics["metric"].isin(["average_accuracy", "gap"])
        & (metrics["split"] == split)
        & (metrics["selection"] == selection)
    )
    return metrics[wanted].groupby([*settings, "metric"])["value"].mean().unstack("metric")


def select(
    means: pd.DataFrame, rule: str = "near_best_accuracy", margin: float = 0.01, best: tuple[float, float] | None = None
) -> tuple[object, ...]:
    """The setting that a rule picks from :func:`sweep_means`: its values, in the order of the sweep's keys.

    ``margin`` of ``near_best_accuracy`` is not stated in the paper; ``best``: of ``dto``. Raises ValueError for a rule
    that does not exist."""
    accuracy, gap = (means[name].to_numpy() for name in ("average_accuracy", "gap"))
    if rule == "near_best_accuracy":
        position = near_best_accuracy(accuracy, gap, margin)
    elif rule == "dto":
        position = int(distance_to_optimum(accuracy, 1 - gap, best).argmin())
    else:
        raise ValueError(f"selection rule {rule}: must be near_best_accuracy or dto")
    found = means.index[position]
    return found if isinstance(found, tuple) else (found,)
