"""Checks the ledger: every record is one that this version reads, of a run that exists; its metrics are
those of its predictions; and no two records say the same."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np

from despur.cli.measurements import compute_from_predictions, list_differences
from despur.cli.rows import Row
from despur.metrics.predictions import Prediction
from despur.specs.settings import SettingError
from despur.storage import ledger
from despur.storage.cards import read_card
from despur.storage.ledger import Key, Record
from despur.storage.store import Dataset, InputError

MEASURED = ("run", "metrics", "predictions", "draws")  # equal in two runs only if one is a copy: seconds are in it


def check_ledger(folder: Path = ledger.LEDGER) -> Iterator[str]:
    """A line for each fault, naming its file; or one that there is none. Raises SettingError where there are faults."""
    cards, faults = load_cards(folder)
    records, unread = ledger.load(folder)
    faults += unread + list(find_strangers(folder)) + list(find_repeated(records))
    for record in records:
        try:
            faults += [f"{record.path}: {fault}" for fault in find_faults(record, folder, cards)]
        except (SettingError, InputError) as error:
            faults.append(f"{record.path}: {error}")
    yield from (Row(fault, "faults", fault=fault) for fault in sorted(faults))
    if faults:
        raise SettingError(f"{folder}: {len(faults)} faults")
    text = f"{folder}: {len(records)} records, {len(cards)} cards, no fault"
    yield Row(text, "checked", folder=str(folder), records=len(records), cards=len(cards))


def load_cards(folder: Path) -> tuple[dict[Path, Dataset], list[str]]:
    """Every card, and what is wrong with those that cannot be read."""
    found, faults = {}, []
    for path in sorted(folder.glob("*/card-*.json")):
        try:
            found[path] = read_card(path)
        except InputError as error:
            faults.append(str(error))
    return found, faults


def find_strangers(folder: Path) -> Iterator[str]:
    """Files that are neither records nor cards, by their names."""
    for path in folder.rglob("*"):
        if path.is_file() and not (path.match("*/*/s*.json") or path.match("*/card-*.json")):
            yield f"{path}: neither a record (DATASET/METHOD/s0-DIGEST.json) nor a card (DATASET/card-DIGEST.json)"


def find_repeated(records: Iterable[Record]) -> Iterator[str]:
    """Records whose run took the same seconds and gave the same numbers as that of another."""
    first: dict[str, Path] = {}
    for record in records:
        told = json.dumps([record.content[key] for key in MEASURED], sort_keys=True)
        if first.setdefault(told, record.path) != record.path:
            yield f"{record.path}: says the same as {first[told]}"


def find_faults(record: Record, folder: Path, cards: Mapping[Path, Dataset]) -> Iterator[str]:
    """What is wrong with a record. Raises InputError or SettingError for what no further check can be done without."""
    content, values = record.content, record.metrics()
    home, stem = folder / content["dataset"] / content["method"], f"s{content['seed']}-"
    if record.path.parent != home or not record.path.name.startswith(stem):
        yield f"is a record of {home}/{stem}..., and lies elsewhere"
    record.find_run()
    record.upstream()
    for selection, own in values.items():
        for key, value in own.items():
            if is_share(key[1]) and not (np.isnan(value) or 0 <= value <= 1):
                yield f"{selection} {' '.join(key)} is {value}, which is no share from 0 to 1"
    for key, bootstrap_values in record.bootstrap_values().items():
        if np.isinf(bootstrap_values).any():
            yield f"bootstrap values of {' '.join(key)} are not finite"
    if predictions := [Prediction(*key, codes) for key, codes in record.predictions().items()]:
        labels = cards.get(record.card) if record.card else None
        if labels is None:
            raise InputError(f"its card, {record.card}, is not there or cannot be read")
        yield from check_predictions(predictions, labels, values["best"])


def is_share(metric: str) -> bool:
    return "accuracy" in metric or metric.startswith("leakage") or metric == "gap"


def check_predictions(
    predictions: Iterable[Prediction], dataset: Dataset, metrics: Mapping[Key, float]
) -> Iterator[str]:
    """Predictions that are not of this data set's samples, or have no metric; metrics that do not follow from them."""
    sound = []
    for each in predictions:
        samples = len(dataset.rows(each.split))
        if each.codes.shape != (samples,):
            yield f"{each.codes.size} predictions of {each.metric} {each.group} for {samples} samples of {each.split}"
        elif each[:3] not in metrics:
            yield f"predictions of {' '.join(each[:3])}, which metrics do not have"
        else:
            sound.append(each)
    yield from list_differences(compute_from_predictions(dataset, sound), metrics)
