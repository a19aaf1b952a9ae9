"""What the ledger keeps of a run's metrics: their values; predictions, where they are functions of these; else
bootstrap values.

Bootstrap values are a metric's values on bootstrap samples of test originals (despur/evaluate.py), kept as float16
deviations from its value on all of them. Kept are metrics that tables and claims read: of all samples together, of
probes and, of few classes, by class."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from despur.evidence.ledger.coding import encode
from despur.evidence.ledger.files import Key, nest
from despur.evidence.ledger.record_checks import compute_from_predictions, list_differences
from despur.metrics.codes import TOP_CLASSES
from despur.metrics.predictions import predict
from despur.metrics.resampling import plan_checksum
from despur.specs.paths import Run
from despur.storage.finished_runs import list_bootstrap_columns
from despur.storage.store import Array, Dataset, InputError

# what curves over epochs show and claims about them read (Figure 7 of cnc)
OF_EPOCHS = (
    *("worst_group_accuracy", "average_accuracy", "alignment_loss"),
    *("mutual_information_class", "mutual_information_attribute"),
)
GROUPS = 64  # a metric with more groups is kept of all samples together: predictions say what it is in each group


def measure(
    dataset: Dataset,
    run: Run,
    outputs: Mapping[str, Array],
    metrics: pd.DataFrame,
    resamples: pd.DataFrame,
    withheld: bool,
) -> dict[str, Any]:
    """What a record says of a run, from the rows of metrics.csv and resamples.parquet that are its own: of its best
    step and its last, and of each epoch that it kept what ``OF_EPOCHS`` names, of all test samples together.
    ``withheld``: labels may not be passed on, so there are bootstrap values only. Raises InputError where metrics are
    not those of ``outputs``."""
    values = {name: by_key(metrics[metrics["selection"] == name])["value"].to_dict() for name in ("best", "last")}
    if not values["best"]:
        raise InputError(f"metrics.csv has no rows of {run.key}: evaluate it anew")
    arrays = {name: array.astype(np.float32) for name, array in outputs.items()}
    predictions = [] if withheld else list(predict(dataset, run, arrays))
    followed = compute_from_predictions(dataset, predictions)
    if wrong := list_differences(followed, values["best"]):
        raise InputError(f"metrics.csv is not of the outputs beside it: {run.key} {wrong[0]}: evaluate it anew")
    kept = by_key(resamples[resamples["selection"] == "best"])
    kept = kept[[key not in followed and is_read(key, len(dataset.about["classes"])) for key in kept.index]]
    bootstrap_values = kept[list_bootstrap_columns(kept)].to_numpy(float)
    splits = dict.fromkeys(split for split, *_ in kept.index)
    if are_equal(values["best"], values["last"]):
        del values["last"]
    of_epochs = metrics[metrics["selection"].str.startswith("epoch=") & metrics["metric"].isin(OF_EPOCHS)]
    of_epochs = of_epochs[of_epochs["split"].isin(dataset.test_splits) & (of_epochs["group"] == "")]
    values |= {str(name): by_key(rows)["value"].to_dict() for name, rows in of_epochs.groupby("selection", sort=False)}
    drawn = dict(zip(kept.index, bootstrap_values, strict=True))
    return {
        "metrics": {name: nest(drop_large_metrics(metric_values)) for name, metric_values in values.items()},
        "predictions": nest({prediction[:3]: encode(prediction.codes) for prediction in predictions}),
        "resampling": {split: plan_checksum(run.data.base_name, bootstrap_values.shape[1]) for split in splits},
        "draws": nest({key: encode_bootstrap_values(drawn[key], values["best"][key]) for key in drawn}),
    }


def by_key(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index(["split", "metric", "group"])


def are_equal(one: Mapping[Key, float], other: Mapping[Key, float]) -> bool:
    """Whether all metrics are equal: the best step is the last."""
    return one.keys() == other.keys() and all(value == other[key] or value != value for key, value in one.items())


def is_read(key: Key, classes: int) -> bool:
    """Whether a table or claim reads the bootstrap values of a metric."""
    _, metric, group = key
    return group == "" or metric == "probe_accuracy" or (classes <= TOP_CLASSES and metric.startswith("class_"))


def drop_large_metrics(values: Mapping[Key, float]) -> dict[Key, float | None]:
    """Values without those of more than ``GROUPS`` groups; None for what is not defined."""
    sizes = pd.Series([key[:2] for key in values], dtype=object).value_counts()
    small = {key: value for key, value in values.items() if key[2] == "" or sizes[key[:2]] <= GROUPS}
    return {key: None if np.isnan(value) else value for key, value in small.items()}


def encode_bootstrap_values(values: Array, point: float) -> str:
    """Values on bootstrap samples (R,), as deviations. Raises InputError for what float16 does not hold."""
    with np.errstate(over="ignore"):
        deviations = (values - point).astype(np.float16)
    if np.isinf(deviations).any():
        raise InputError(f"bootstrap values around {point} deviate by more than float16 holds")
    return encode(deviations)
