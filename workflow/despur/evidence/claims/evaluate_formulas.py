"""The contrasts of claims (evidence/statistics/contrasts.py), computed from their formulas and the tables of
measured values (evidence/claims/measured_values.py)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from despur.evidence.claims.measured_values import MeasuredValues
from despur.evidence.statistics.contrasts import Contrast, Group
from despur.evidence.statistics.formulas import Correlation, Formula, Formulas
from despur.evidence.statistics.levels import Missing
from despur.storage.store import Array


def list_values(formulas: Formulas, measured: MeasuredValues) -> Iterator[pd.DataFrame]:
    """Every value that formulas need. Raises Missing."""
    for part in formulas.leaves():
        if isinstance(part, Correlation):
            yield measured.correlation(part)[0]
        else:
            yield from (measured.value(term) for _, term in part.terms)


def collect_rows(formulas: Formulas, measured: MeasuredValues) -> pd.DataFrame:
    """The rows of the metrics that formulas are made of."""
    terms = [term for part in formulas.leaves() for _, term in part.terms]
    return pd.concat([measured.metrics[:0], *(measured.rows(measured.metrics, term) for term in terms)])


def common_seeds(measured: MeasuredValues, *groups: Formulas) -> list[int]:
    """The seeds that all values of formulas have. Raises Missing for none."""
    seeds = [{*values.index} for formulas in groups for values in list_values(formulas, measured)]
    common = sorted(set.intersection(*seeds)) if seeds else []
    if seeds and not common:
        raise Missing("no seed in common")
    return common


def evaluate(formulas: Formulas, measured: MeasuredValues, seeds: list[int]) -> Group:
    """The contrasts of formulas, from these seeds."""
    parts: list[Contrast | Group] = []
    for part in formulas.parts:
        if isinstance(part, Formulas):
            parts.append(evaluate(part, measured, seeds))
        elif isinstance(part, Correlation):
            correlations, points = measured.correlation(part)
            values = correlations.loc[seeds].to_numpy(float)
            parts.append(Contrast(values[:, 0], values[:, 1:], part.margin, label=part.label, points=points))
        else:
            values = _sum_terms(part, measured, seeds)
            parts.append(Contrast(values[:, 0], values[:, 1:], part.margin, part.counted, part.label))
    return Group(parts, formulas.at_least)


def _sum_terms(formula: Formula, measured: MeasuredValues, seeds: list[int]) -> Array:
    total: Array = np.full((len(seeds), 1), formula.constant)
    for weight, term in formula.terms:
        values = measured.value(term).loc[seeds].to_numpy(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total + weight * (np.log(values) if formula.scale == "log" else values)
    return total
