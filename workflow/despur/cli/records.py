"""What ``despur record`` and ``despur ledger`` print of the records that they make and check."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from despur.cli.rows import Row
from despur.evidence.ledger.files import LEDGER
from despur.evidence.ledger.ledger_checks import check_files
from despur.evidence.ledger.recording import record_folder, refuse_changed_code
from despur.specs.paths import locate_result
from despur.specs.settings import SettingError
from despur.storage.commits import find_commit
from despur.storage.store import InputError


def record_folders(paths: Iterable[str | Path], commit: str | None = None, folder: Path = LEDGER) -> Iterator[str]:
    """Record every run of these folders. Raises SettingError for a ``commit`` that is none; at the end where some
    folders were refused; the rest are recorded."""
    refuse_changed_code()
    if commit is not None:
        find_commit(commit)
    refused, paths = 0, list(paths)
    for path in paths:
        try:
            for file in record_folder(locate_result(path), commit, folder):
                size = file.stat().st_size
                yield Row(f"recorded  {file} ({size / 1000:.1f} kB)", "records", file=str(file), bytes=size)
        except (SettingError, InputError) as error:
            refused += 1
            yield Row(f"refused   {error}", "refused", folder=str(path), reason=str(error))
    if refused:
        raise SettingError(f"{refused} of {len(paths)} folders were refused")


def check_ledger(folder: Path = LEDGER) -> Iterator[str]:
    """A line for each fault, naming its file; or one that there is none. Raises SettingError where there are faults."""

    records, cards, faults = check_files(folder)
    yield from (Row(fault, "faults", fault=fault) for fault in faults)
    if faults:
        count = f"{len(faults)} fault{'s' * (len(faults) > 1)}"
        raise SettingError(f"{folder}: {count}. Record these runs again (despur record FOLDER), or remove the files")
    text = f"{folder}: {records} records, {cards} cards, no fault"
    yield Row(text, "checked", folder=str(folder), records=records, cards=cards)
