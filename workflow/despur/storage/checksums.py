"""Checksums of results: about.json of a folder keeps those of the files beside it that the same job wrote, and its own.
Who reads such a file compares it, so that a file that was damaged or exchanged makes no number."""

import json
import zlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

ABOUT, CHECKSUMS, SEAL = "about.json", "crc32", "checksum"
OTHER = "its content is not what was written, as its checksum says"
LARGEST_COMPARED = 2**30  # bytes of a file; rows of larger ones are read where they are needed


def list_checksums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """CRC-32 of those of these files of a folder that are not too large, for its about.json."""
    files = [folder / name for name in sorted(names) if name != ABOUT and (folder / name).exists()]
    return {file.name: compute(file) for file in files if file.stat().st_size <= LARGEST_COMPARED}


def seal(about: Mapping[str, Any]) -> dict[str, Any]:
    """What about.json is to say, with the CRC-32 of all of it, in its canonical form."""
    text = json.dumps(json.loads(json.dumps(about)), sort_keys=True)  # JSON has no other keys than texts
    return {**about, SEAL: f"{zlib.crc32(text.encode()):08x}"}


def refuse_changed(path: Path) -> None:
    """Raises ValueError for a file whose checksum is not that which about.json keeps of it, or for an about.json that
    is not what was written. A file that about.json does
    not name is not looked at, nor one beside an about.json that cannot be read: who reads that says so."""
    about = path.parent / ABOUT
    if path.name == ABOUT:
        said = json.loads(path.read_text())
        checksum = said.pop(SEAL, None) if isinstance(said, dict) else None
        if checksum is not None and checksum != seal(said)[SEAL]:
            raise ValueError(OTHER)
    elif about.exists():
        compare(path, read_kept(about, about.stat().st_mtime_ns))


def compare(path: Path, kept: Mapping[str, str]) -> None:
    """Raises ValueError for a file whose checksum is not the ``kept`` one of its name, if one is."""
    if kept.get(path.name) not in (None, compute(path)):
        raise ValueError(OTHER)


@cache
def read_kept(about: Path, time: int) -> dict[str, str]:
    """The checksums of an about.json that was written at this ``time``, in ns; none of one that is broken."""
    try:
        kept = json.loads(about.read_text()).get(CHECKSUMS, {})
    except (ValueError, AttributeError):
        return {}
    return kept if isinstance(kept, dict) else {}


def compute_values(table: "pd.DataFrame") -> str:
    """CRC-32 of the names and values of a table's columns, which a file may keep in many ways: NaN counts as one value,
    whatever its bits."""
    checksum = 0
    for name in table.columns:
        values = table[name].where(table[name].notna()).to_numpy()
        if values.dtype == object:
            content = "\n".join("" if value is None or value != value else str(value) for value in values).encode()
        else:
            content = values.tobytes()
        checksum = zlib.crc32(content, zlib.crc32(f"{name} {values.dtype}".encode(), checksum))
    return f"{checksum:08x}"


def compute(path: Path) -> str:
    """CRC-32 of a file, in hexadecimal digits: of one that stays as it is, once in a process."""
    state = path.stat()
    return _compute(path, state.st_mtime_ns, state.st_size, state.st_ino)


@cache
def _compute(path: Path, *_state: int) -> str:
    checksum = 0
    with path.open("rb") as file:
        while block := file.read(2**20):
            checksum = zlib.crc32(block, checksum)
    return f"{checksum:08x}"
