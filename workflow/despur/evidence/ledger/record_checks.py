"""What is wrong with the ledger: a record that this version cannot read, of another name than its specification, or
whose metrics do not follow from its predictions or lack them; and records that say the same. (One whose specification
is unknown to this version is none of these: it does not count, :mod:`despur.evidence.ledger.standing`.)"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from despur.evidence.ledger import files
from despur.evidence.ledger.cards import read_card, withholds_labels
from despur.evidence.ledger.fact_checks import (
    PREDICTED,
    ROUNDING,
    check_bootstrap_values,
    check_facts,
    check_name,
    check_seed,
    check_values,
    identify_run,
)
from despur.evidence.ledger.files import Key, Record
from despur.metrics.predictions import Prediction, score
from despur.specs.names import parse
from despur.specs.settings import SettingError
from despur.storage.commits import git
from despur.storage.store import Dataset, InputError

MEASURED_PARTS = ("metrics", "predictions", "draws")  # of several steps of training: equal only in copies
load_card = cache(read_card)


def load_sound(folder: Path) -> tuple[list[Record], list[str]]:
    """Every record of a ledger that has no fault, and what is wrong with the others."""
    judged, faults = load_judged(folder)
    sound = [record for record, record_faults in judged if not record_faults]
    return sound, faults + [fault for _, record_faults in judged for fault in record_faults]


def load_judged(folder: Path) -> tuple[list[tuple[Record, list[str]]], list[str]]:
    """Every record of a ledger with what is wrong with it; and what is wrong with the files that cannot be read."""
    records, faults = files.load(folder)
    repeated = find_repeated(records)
    return [(record, list_faults(record, folder) + repeated.get(record.path, [])) for record in records], faults


def check_files(folder: Path) -> tuple[int, int, list[str]]:
    """How many records and cards a ledger has, and every fault, which names its file."""
    cards, faults = files.read_each(sorted(folder.glob("*/card-*.json")), load_card)
    judged, unread = load_judged(folder)
    faults += unread + list(find_strangers(folder)) + list(find_strange_commits(record for record, _ in judged))
    faults += [fault for _, record_faults in judged for fault in record_faults]
    return len(judged), len(cards), sorted(faults)


def find_strangers(folder: Path) -> Iterator[str]:
    """Files that are neither records nor cards, by their names."""
    for path in folder.rglob("*"):
        if path.is_file() and not (path.match("*/*/s*.json") or path.match("*/card-*.json")):
            yield f"{path}: neither a record (DATASET/METHOD/s0-DIGEST.json) nor a card (DATASET/card-DIGEST.json)"


def find_repeated(records: Iterable[Record]) -> dict[Path, list[str]]:
    """Records of a trained method that gave the same numbers as an earlier one of another seed or draw of the data. The
    same run, made again, gives them, too, and is none of these."""
    first: dict[str, Record] = {}
    faults: dict[Path, list[str]] = {}
    for record in sorted(records, key=lambda record: (record.content["finished"], record.path)):
        content, steps = record.content, record.content["run"].get("steps", 0)
        name = [parse(content["dataset"])[0], content["method"], *(content[key] for key in MEASURED_PARTS)]
        told = json.dumps(name, sort_keys=True)
        other = first.setdefault(told, record) if isinstance(steps, int) and steps > 1 else record
        if any(other.content[key] != content[key] for key in ("dataset", "seed")):
            faults[record.path] = [f"{record.path}: says the same as {other.path}"]
    return faults


def find_strange_commits(records: Iterable[Record]) -> Iterator[str]:
    """Records whose commit is none before the present one. Nothing where git knows none of the commits: a copy without
    the project's history."""
    commits = [(record.content["commit"], record.path) for record in records if len(record.content["commit"]) == 40]
    known = {commit: git("merge-base", "--is-ancestor", commit, "HEAD") is not None for commit in dict(commits)}
    if any(known.values()) and git("rev-parse", "--is-shallow-repository") == "false":
        yield from (f"{path}: commit {commit} is none of this history" for commit, path in commits if not known[commit])


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
    check_seed(content)
    home, stem = folder / content["dataset"] / content["method"], f"s{content['seed']}-"
    if record.path.parent != home or not record.path.name.startswith(stem):
        yield f"is a record of {home}/{stem}..., and lies elsewhere"
    record.upstream()
    yield from check_facts(content)
    yield from check_values(record)
    if identified := identify_run(record):
        withheld = withholds_labels(content["dataset"])
        yield from check_name(record, *identified)
        yield from check_bootstrap_values(record, withheld)
        if bool(record.card) == withheld:
            yield "names a card, though its data set withholds labels" if record.card else "names no card"
    predictions = [Prediction(*key, codes) for key, codes in record.predictions().items()]
    if record.card:
        if (named := load_card(record.card).about["dataset"]) != content["dataset"]:
            yield f"its card is that of {named}"
        yield from check_predictions(predictions, load_card(record.card), best)
    elif predictions:
        raise InputError("has predictions and names no card")


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
