"""Which methods of the matrix are ranked, and how."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import rankdata

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.runs.collapsed import is_guessing
from despur.evidence.statistics.contrasts import FAILS, HOLDS, LEVEL, Contrast, decide
from despur.evidence.statistics.formulas import DEFAULTS
from despur.storage.store import Array

BASELINE = "erm"


def is_near_chance(measured: MeasuredValues, method: str, seeds: Sequence[int]) -> bool:
    """Whether most seeds of a method guess, by their mean over classes of test accuracy, as one that collapsed does on
    training data (:func:`is_guessing`). A method without a classifier is not near chance."""
    measurement = {**DEFAULTS, "method": method, "metric": "class_average_accuracy"}
    classes = measured.levels("group", {key: value for key, value in measurement.items() if key != "group"})
    if not classes:
        return False
    values = [measured.value({**measurement, "group": name}).loc[list(seeds), "value"] for name in classes]
    guessing = [is_guessing(accuracy, 1 / len(classes)) for accuracy in np.nanmean(values, axis=0)]
    return bool(np.mean(guessing) > 0.5)


def summarize(by_seed: Array) -> dict[str, float | str]:
    """Mean and standard deviation over seeds; none where they do not differ."""
    return {
        "value": by_seed.mean(),
        "std": by_seed.std(ddof=1) if np.ptp(by_seed) else float("nan"),
        "seeds": len(by_seed),
    }


def find_ranks(by_method: dict[str, Array], higher_is_better: bool) -> dict[str, dict[str, float | str]]:
    """Rank of each method (1: best; ties share the mean), the best and worst rank that are not refuted, and how it
    compares with the baseline. ``by_method``: (seeds,1+B) of each method, as ``comparison.measure`` gives them. Where
    nothing varies over seeds or test data, as the memory of a process, there is nothing to refute ranks with."""
    if not by_method:
        return {}
    scores = np.stack([values if higher_is_better else -values for values in np.broadcast_arrays(*by_method.values())])
    points = rankdata(-scores[..., 0].mean(axis=1))
    if not np.ptp(scores, axis=(1, 2)).any():
        return {method: {"rank": rank} for method, rank in zip(by_method, points, strict=True)}
    differences = scores[:, None] - scores[None]  # (methods,methods,seeds,1+B)
    shown = decide(Contrast(differences[..., 0], differences[..., 1:]), LEVEL / max(len(scores) - 1, 1))
    words = {HOLDS: "helps", FAILS: "hurts"}
    base = list(by_method).index(BASELINE) if BASELINE in by_method else None
    return {
        method: {
            "rank": points[i],
            "rank_low": 1 + int((shown[i] == FAILS).sum()),
            "rank_high": len(scores) - int((shown[i] == HOLDS).sum()),
            "versus_erm": "" if base is None or i == base else words.get(int(shown[i, base]), "undecided"),
        }
        for i, method in enumerate(by_method)
    }
