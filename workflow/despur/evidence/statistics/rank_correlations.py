"""Rank correlations as contrasts: Fisher's z of Spearman's correlation over some points, such as methods or data.

One correlation a seed, and one on each bootstrap sample of the test originals. Seeds do not say how much a correlation
depends on which points were measured: all seeds may agree on an order of five methods that is chance. So the
half-width (despur/evidence/statistics/contrasts.py) is at least that of the points."""

import numpy as np
import pandas as pd
from scipy import stats

from despur.evidence.statistics.formulas import DEFAULTS
from despur.storage.store import Array


def correlate_ranks(first: Array, second: Array) -> Array:
    """Spearman's correlation over the last axis, (...,P) and (...,P) to (...); NaN where one of them is the same at all
    points."""
    ranks = [stats.rankdata(values, axis=-1) for values in (first, second)]
    a, b = (rank - rank.mean(axis=-1, keepdims=True) for rank in ranks)
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(axis=-1) / np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1)))


def fisher(correlations: Array, points: int) -> Array:
    """Fisher's z of rank correlations over some points, each half a step nearer to 0: the correction for continuity,
    which also makes a perfect one finite."""
    half = 6 / (points**3 - points)  # swapping two neighbors of N changes Spearman's correlation by 12 / (N^3 - N)
    return np.arctanh(np.sign(correlations) * np.maximum(np.abs(correlations) - half, 0))


def least_half_width(points: int, level: float) -> float:
    """What Fisher's z of a correlation exceeds with this probability if nothing is associated: by Student's t of a
    correlation over so many points."""
    t = stats.t.isf(level, points - 2)
    return float(np.arctanh(t / np.sqrt(t**2 + points - 2)))


def complete(values: pd.DataFrame, least: int) -> pd.DataFrame:
    """Of values by point and (column, seed), the points that ``least`` seeds have, or else as many as any point has;
    then the seeds that all of these points have. So a seed that is not finished does not undo the others."""
    seeds = values.notna().T.groupby(level="seed").all().sum()
    return values[seeds >= min(least, seeds.max())].dropna(axis=1)


def count_runs(points: pd.Index) -> int:
    """Of points, how many are of different runs: snapshots of a run are not independent."""
    return len(set(points.to_frame().drop(columns=list(DEFAULTS), errors="ignore").itertuples(index=False, name=None)))
