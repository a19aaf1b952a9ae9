"""What is wrong with the ledger: a record that this version cannot read, of a run that does not exist, or whose metrics
do not follow from its predictions; and records that say the same."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from despur.evidence.ledger import files
from despur.evidence.ledger.cards import read_card
from despur.evidence.ledger.files import Key, Record
from despur.metrics.predictions import Prediction, score
from despur.metrics.resampling import plan_checksum
from despur.specs.names import parse
from despur.specs.settings import SettingError
from despur.storage.store import Dataset, InputError

ROUNDING = 1e-9  # by so much a value may differ that is summed in another order
PREDICTED = ("average_accuracy", "worst_group_accuracy", "probe_accuracy", "domain_accuracy")  # what tables show
NUMBERS = ("seconds", "peak_memory_mb")
MEASURED_PARTS = ("run", "metrics", "predictions", "draws")  # with seconds: equal only in copies
load_card, find_checksum = cache(read_card), cache(plan_checksum)


def load_sound(folder: Path) -> tuple[list[Record], list[str]]:
    """Every record of a ledger that has no fault, and what is wrong with the others."""
    judged, faults = load_judged(folder)
    sound = [record for record, record_faults in judged if not record_faults]
    return sound, faults + [fault for _, record_faults in judged for fault in record_faults]


def load_judged(folder: Path) -> tuple[list[tuple[Record, list[str]]], list[str]]:
    """Every record of a ledger with what is wrong with it; and what is wrong with the files that cannot be read."""
    records, faults = files.load(folder)
    return [(record, list_faults(record, folder)) for record in records], faults


def check_files(folder: Path) -> tuple[int, int, list[str]]:
    """How many records and cards a ledger has, and every fault, which names its file."""
    cards, faults = load_cards(folder)
    judged, unread = load_judged(folder)
    faults += unread + list(find_strangers(folder)) + list(find_repeated(record for record, _ in judged))
    faults += [fault for _, record_faults in judged for fault in record_faults]
    return len(judged), len(cards), sorted(faults)


def load_cards(folder: Path) -> tuple[list[Path], list[str]]:
    """Every card, and what is wrong with those that cannot be read."""
    cards, faults = [], []
    for path in sorted(folder.glob("*/card-*.json")):
        try:
            load_card(path)
            cards.append(path)
        except InputError as error:
            faults.append(str(error))
    return cards, faults


def find_strangers(folder: Path) -> Iterator[str]:
    """Files that are neither records nor cards, by their names."""
    for path in folder.rglob("*"):
        if path.is_file() and not (path.match("*/*/s*.json") or path.match("*/card-*.json")):
            yield f"{path}: neither a record (DATASET/METHOD/s0-DIGEST.json) nor a card (DATASET/card-DIGEST.json)"


def find_repeated(records: Iterable[Record]) -> Iterator[str]:
    """Records whose run took the same seconds and gave the same numbers as that of another."""
    first: dict[str, Path] = {}
    for record in records:
        told = json.dumps([record.content[key] for key in MEASURED_PARTS], sort_keys=True)
        if first.setdefault(told, record.path) != record.path:
            yield f"{record.path}: says the same as {first[told]}"


def list_faults(record: Record, folder: Path) -> list[str]:
    """What is wrong with a record in a ledger, each with its file."""
    faults, fault_texts = [], find_faults(record, folder)
    try:
        for fault in fault_texts:
            faults.append(fault)
    except (SettingError, InputError) as error:
        faults.append(str(error))
    return [f"{record.path}: {fault}" for fault in dict.fromkeys(faults)]


def find_faults(record: Record, folder: Path) -> Iterator[str]:
    """What is wrong with a record. Raises InputError or SettingError for what no further check can be done without."""
    content, best = record.content, record.metrics()["best"]
    home, stem = folder / content["dataset"] / content["method"], f"s{content['seed']}-"
    if record.path.parent != home or not record.path.name.startswith(stem):
        yield f"is a record of {home}/{stem}..., and lies elsewhere"
    record.find_run()
    record.upstream()
    yield from check_facts(content)
    yield from check_values(record)
    predictions = [Prediction(*key, codes) for key, codes in record.predictions().items()]
    if record.card:
        yield from check_predictions(predictions, load_card(record.card), best)
    elif predictions:
        raise InputError("has predictions and names no card")


def check_values(record: Record) -> Iterator[str]:
    """Shares beyond 0 and 1; bootstrap values that are not finite or of other bootstrap samples."""
    for selection, metrics in record.metrics().items():
        for key, value in metrics.items():
            if is_share(key[1]) and not (np.isnan(value) or 0 <= value <= 1):
                yield f"{selection} {' '.join(key)} is {value}, which is no share from 0 to 1"
    name, best = parse(record.content["dataset"])[0], record.metrics()["best"]
    for key, values in record.bootstrap_values().items():
        if np.isinf(values).any():
            yield f"bootstrap values of {' '.join(key)} are not finite"
        if key not in best or values.ndim != 1:
            yield f"bootstrap values of {' '.join(key)} have no metric, or more than one dimension"
        elif record.content["resampling"].get(key[0]) != find_checksum(name, len(values)):
            yield f"bootstrap values of {' '.join(key)} are of other bootstrap samples than those of today"


def check_facts(content: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with what made a run."""
    if not re.fullmatch("[0-9a-f]{40}", content["commit"]):
        yield f"commit {content['commit']!r} is no full commit hash (40 signs, 0-9 and a-f)"
    try:
        aware = datetime.fromisoformat(content["finished"]).tzinfo is not None
    except ValueError:
        aware = False
    if not aware:
        yield f"finished {content['finished']!r} is no time with its zone, 2026-01-31T12:00:00+00:00"
    if wrong := [name for name, number in content["revisions"].items() if type(number) is not int]:
        yield f"revisions of {', '.join(wrong)} are no whole numbers"
    if not isinstance(content["machine"]["device"], str):
        yield f"device {content['machine']['device']!r} is no name"
    for name, value in {**content["machine"], **content["run"]}.items():
        if name in NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            yield f"{name} is {value!r}, not a number from 0 on"


def is_share(metric: str) -> bool:
    return "accuracy" in metric or metric.startswith("leakage") or metric.endswith("gap")


def check_predictions(
    predictions: Iterable[Prediction], dataset: Dataset, metrics: Mapping[Key, float]
) -> Iterator[str]:
    """Predictions that are not of this data set's samples, or have no metric; metrics that do not follow from them."""
    sound = []
    for prediction in predictions:
        samples = len(dataset.rows(prediction.split))
        if prediction.codes.shape != (samples,):
            name = " ".join(prediction[1:3])
            yield f"{prediction.codes.size} predictions of {name} for {samples} samples of {prediction.split}"
        elif prediction[:3] not in metrics:
            yield f"predictions of {' '.join(prediction[:3])}, which metrics do not have"
        else:
            sound.append(prediction)
    predicted, tested = compute_from_predictions(dataset, sound), {*dataset.test_splits}
    yield from list_differences(predicted, metrics)
    for key in metrics:
        if key[0] in tested and key[1] in PREDICTED and key not in predicted:
            yield f"the record has no predictions for {' '.join(key)}"


def compute_from_predictions(dataset: Dataset, predictions: Iterable[Prediction]) -> dict[Key, float]:
    """Every metric that is a function of predictions."""
    return {
        (prediction.split, metric, group): float(np.squeeze(value))
        for prediction in predictions
        for metric, group, value in score(dataset, prediction, np.ones((1, len(prediction.codes))))
    }


def list_differences(predicted: Mapping[Key, float], recorded: Mapping[Key, float]) -> list[str]:
    """Which of the recorded values are others than those by predictions, in words."""
    return [
        f"{' '.join(key)} is {recorded[key]}, but {value} by predictions"
        for key, value in predicted.items()
        if key in recorded and not np.isclose(value, recorded[key], rtol=0, atol=ROUNDING, equal_nan=True)
    ]
