"""The contrasts of claims (evidence/statistics/contrasts.py), computed from their formulas and the tables of
measured values (evidence/claims/evidence.py)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from despur.evidence.claims.evidence import Source
from despur.evidence.statistics.contrasts import Contrast, Group
from despur.evidence.statistics.formulas import Correlation, Formula, Formulas
from despur.evidence.statistics.levels import Missing
from despur.storage.store import Array


def collect_values(formulas: Formulas, source: Source) -> list[pd.DataFrame]:
    """Every value that formulas need."""
    found = []
    for part in formulas.parts:
        if isinstance(part, Formulas):
            found += collect_values(part, source)
        elif isinstance(part, Correlation):
            found.append(source.correlation(part)[0])
        else:
            found += [source.value(term) for _, term in part.terms]
    return found


def collect_rows(formulas: Formulas, source: Source) -> pd.DataFrame:
    """The rows of the metrics that formulas are made of."""
    found = [source.metrics[:0]]
    for part in formulas.parts:
        if isinstance(part, Formulas):
            found.append(collect_rows(part, source))
        elif isinstance(part, Correlation):
            found += [source.rows(source.metrics, {**part.of, "metric": metric}) for metric in part.metrics]
        else:
            found += [source.rows(source.metrics, term) for _, term in part.terms]
    return pd.concat(found)


def common_seeds(frames: Sequence[pd.DataFrame]) -> list[int]:
    """The seeds that all values have. Raises Missing for none."""
    seeds = sorted(set.intersection(*(set(frame.index) for frame in frames))) if frames else []
    if frames and not seeds:
        raise Missing("no seed in common")
    return seeds


def evaluate(formulas: Formulas, source: Source, seeds: Sequence[int]) -> Group:
    """The contrasts of formulas, from these seeds."""
    parts: list[Contrast | Group] = []
    for part in formulas.parts:
        if isinstance(part, Formulas):
            parts.append(evaluate(part, source, seeds))
        elif isinstance(part, Correlation):
            found, points = source.correlation(part)
            values = found.loc[list(seeds)].to_numpy(float)
            parts.append(
                Contrast(
                    by_seed=values[:, 0], resampled=values[:, 1:], margin=part.margin, label=part.label, points=points
                )
            )
        else:
            parts.append(_contrast(part, source, seeds))
    return Group(parts, formulas.at_least)


def _contrast(formula: Formula, source: Source, seeds: Sequence[int]) -> Contrast:
    total: Array = np.full((len(seeds), 1), formula.constant)
    for weight, term in formula.terms:
        values = source.value(term).loc[list(seeds)].to_numpy(float)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total + weight * (np.log(values) if formula.scale == "log" else values)
    return Contrast(
        by_seed=total[:, 0],
        resampled=total[:, 1:],
        margin=formula.margin,
        counted=formula.counted,
        label=formula.label,
    )
