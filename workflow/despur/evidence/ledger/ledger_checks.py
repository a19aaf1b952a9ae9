"""Checks the ledger: every record is one that this version reads, of a run that exists; its metrics are
those of its predictions; and no two records say the same."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.evidence.ledger import files
from despur.evidence.ledger.files import Record
from despur.evidence.ledger.record_checks import list_faults, load_card
from despur.storage.store import InputError

MEASURED_PARTS = ("run", "metrics", "predictions", "draws")  # with seconds: equal only in copies


def check_files(folder: Path) -> tuple[int, int, list[str]]:
    """How many records and cards a ledger has, and every fault, which names its file."""
    cards, faults = load_cards(folder)
    records, unread = files.load(folder)
    faults += unread + list(find_strangers(folder)) + list(find_repeated(records))
    faults += [fault for record in records for fault in list_faults(record, folder)]
    return len(records), len(cards), sorted(faults)


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
