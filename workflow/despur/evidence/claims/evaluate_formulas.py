"""The contrasts of claims (evidence/statistics/contrasts.py), computed from their formulas and the tables of
measured values (evidence/claims/measured_values.py)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.statistics.contrasts import Contrast, Group
from despur.evidence.statistics.formulas import Correlation, Formula, Formulas
from despur.evidence.statistics.levels import Missing
from despur.storage.store import Array


def collect_values(formulas: Formulas, measured: MeasuredValues) -> list[pd.DataFrame]:
    """Every value that formulas need."""
    values = []
    for part in formulas.leaves():
        if isinstance(part, Correlation):
            values.append(measured.correlation(part)[0])
        else:
            values += [measured.value(term) for _, term in part.terms]
    return values


def collect_rows(formulas: Formulas, measured: MeasuredValues) -> pd.DataFrame:
    """The rows of the metrics that formulas are made of."""
    terms = [term for part in formulas.leaves() for _, term in part.terms]
    return pd.concat([measured.metrics[:0], *(measured.rows(measured.metrics, term) for term in terms)])


def common_seeds(frames: Sequence[pd.DataFrame]) -> list[int]:
    """The seeds that all values have. Raises Missing for none."""
    seeds = sorted(set.intersection(*(set(frame.index) for frame in frames))) if frames else []
    if frames and not seeds:
        raise Missing("no seed in common")
    return seeds


def evaluate(formulas: Formulas, measured: MeasuredValues, seeds: Sequence[int]) -> Group:
    """The contrasts of formulas, from these seeds."""
    parts: list[Contrast | Group] = []
    for part in formulas.parts:
        if isinstance(part, Formulas):
            parts.append(evaluate(part, measured, seeds))
        elif isinstance(part, Correlation):
            correlations, points = measured.correlation(part)
            values = correlations.loc[list(seeds)].to_numpy(float)
            parts.append(
                Contrast(
                    by_seed=values[:, 0], resampled=values[:, 1:], margin=part.margin, label=part.label, points=points
                )
            )
        else:
            parts.append(_contrast(part, measured, seeds))
    return Group(parts, formulas.at_least)


def _contrast(formula: Formula, measured: MeasuredValues, seeds: Sequence[int]) -> Contrast:
    total: Array = np.full((len(seeds), 1), formula.constant)
    for weight, term in formula.terms:
        values = measured.value(term).loc[list(seeds)].to_numpy(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total + weight * (np.log(values) if formula.scale == "log" else values)
    return Contrast(
        by_seed=total[:, 0], resampled=total[:, 1:], margin=formula.margin, counted=formula.counted, label=formula.label
    )
