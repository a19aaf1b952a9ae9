"""Tables of what a record of the ledger says of its run, as a run's folder has them: metrics, bootstrap values."""

from functools import cache, lru_cache
from pathlib import Path

import numpy as np
import pandas as pd

from despur.evidence.ledger.files import Key, Record, load_record
from despur.evidence.ledger.record_checks import load_card
from despur.metrics import RESAMPLES
from despur.metrics.predictions import Prediction, score
from despur.metrics.resampling import counts
from despur.specs.names import parse
from despur.storage.store import Array

METRIC_COLUMNS = ["split", "selection", "metric", "group"]


def describe_source(record: Record) -> str:
    """``commit 1a2b3c4d, AMD EPYC 7B13``: what measured a run."""
    machine = record.content["machine"]
    device = machine.get("device") if machine.get("device") not in (None, "cpu") else machine.get("processor")
    return f"commit {record.content['commit'][:8]}, {device or machine.get('machine', 'a machine that is not named')}"


@cache
def load_metrics(file: str) -> pd.DataFrame:
    """:func:`tabulate_metrics` of the record in a file."""
    return tabulate_metrics(load_record(file))


def tabulate_metrics(record: Record) -> pd.DataFrame:
    """Columns split, selection, metric, group, value."""
    rows = [
        (split, selection, metric, group, value)
        for selection, values in record.metrics().items()
        for (split, metric, group), value in values.items()
    ]
    return pd.DataFrame(rows, columns=[*METRIC_COLUMNS, "value"])


@cache
def load_resamples(file: str) -> pd.DataFrame:
    """Columns split, selection, metric, group, and "0", "1", ...: values on bootstrap samples. Those that are functions
    of predictions are computed anew. Of records that :mod:`record_checks` finds right."""
    record = load_record(file)
    name, resampled = parse(record.content["dataset"])[0], record.bootstrap_values()
    if record.card and (predictions := record.predictions()):
        resampled |= resample_predictions(record.card, name, predictions)
    rows = [(split, "best", metric, group, *values) for (split, metric, group), values in resampled.items()]
    width = max((len(values) for values in resampled.values()), default=0)
    return pd.DataFrame(rows, columns=[*METRIC_COLUMNS, *map(str, range(width))])


def resample_predictions(card: Path, name: str, predictions: dict[Key, Array]) -> dict[Key, Array]:
    """Values (R,) of every metric that is a function of predictions; ``name``: of the data set, without settings."""
    dataset, resampled = load_card(card), {}
    for (split, metric, group), codes in predictions.items():
        prediction = Prediction(split, metric, group, codes)
        for metric_name, label, values in score(dataset, prediction, draw_weights(card, split, name)):
            if len(with_draws := np.atleast_1d(values)) > 1:
                resampled[split, metric_name, label] = with_draws[1:].astype(np.float32)
    return resampled


@lru_cache(maxsize=4)
def draw_weights(card: Path, split: str, name: str) -> Array:
    """(1+R,N): how often each sample of a split counts."""
    dataset = load_card(card)
    return counts(name, dataset.table["original"].to_numpy()[dataset.rows(split)], RESAMPLES)
