"""Checks the ledger: every record is one that this version reads, of a run that exists; its metrics are
those of its predictions; and no two records say the same."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.reporting.runs.record_checks import list_faults, load_card
from despur.specs.settings import SettingError
from despur.storage import ledger
from despur.storage.ledger import Record
from despur.storage.store import InputError

MEASURED = ("run", "metrics", "predictions", "draws")  # equal in two runs only if one is a copy: seconds are in it


def check_ledger(folder: Path = ledger.LEDGER) -> Iterator[str]:
    """A line for each fault, naming its file; or one that there is none. Raises SettingError where there are faults."""
    cards, faults = load_cards(folder)
    records, unread = ledger.load(folder)
    faults += unread + list(find_strangers(folder)) + list(find_repeated(records))
    faults += [fault for record in records for fault in list_faults(record, folder)]
    yield from (Row(fault, "faults", fault=fault) for fault in sorted(faults))
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) > 1)}"
        raise SettingError(f"{folder}: {count}. Record these runs again (despur record FOLDER), or remove the files")
    text = f"{folder}: {len(records)} records, {len(cards)} cards, no fault"
    yield Row(text, "checked", folder=str(folder), records=len(records), cards=len(cards))


def load_cards(folder: Path) -> tuple[list[Path], list[str]]:
    """Every card, and what is wrong with those that cannot be read."""
    found, faults = [], []
    for path in sorted(folder.glob("*/card-*.json")):
        try:
            load_card(path)
            found.append(path)
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
