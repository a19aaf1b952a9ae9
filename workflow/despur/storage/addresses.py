"""The addresses of downloads: when each was last tried here, with what result, and what users report of it."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from despur.storage.store import InputError, write_json

RECORD = ".checksums.json"  # of files whose checksum is not published, below the folder of raw data or of weights
ADDRESSES = ".addresses.json"  # when each address was last tried here, and with what result; there too
LOCAL = ("localhost", "127.0.0.1")  # whose answers no network carries
SECONDS = 10  # without an answer, before an address counts as one that gives none
REPORTED = {  # what users report of servers, and where
    "worksheets.codalab.org": "users report the server down since April 2026 (p-lambda/wilds, issues 174 and 175)"
}


def load_record(root: Path, name: str = RECORD) -> dict[str, Any]:
    """What was recorded, by address: the checksums when files first came, or when addresses were tried (ADDRESSES)."""
    file = root / name
    return json.loads(file.read_text()) if file.exists() else {}


def note_address(root: Path, address: str, result: str) -> None:
    """Record that an address was tried now, and with what result; not where the folder cannot be written."""
    tried = {"tried": datetime.now(UTC).date().isoformat(), "result": result}
    with suppress(InputError, OSError):
        root.mkdir(parents=True, exist_ok=True)
        write_json(root / ADDRESSES, {**load_record(root, ADDRESSES), address: tried})


def describe_address(address: str, root: Path) -> str:
    """When an address was last tried here, and with what result; what users report of it."""
    record = load_record(root, ADDRESSES).get(address)
    tried = f"tried {record['tried']}: {record['result']}" if record else "never tried"
    return "; ".join(filter(None, [tried, REPORTED.get(urlsplit(address).hostname or "", "")]))


def ask_address(address: str) -> str:
    """What a server says of an address, by its header alone: ``there, 12.3 MB``; why not, where it does not answer."""
    import requests

    try:
        with requests.head(address, allow_redirects=True, timeout=SECONDS) as answer:
            size = int(answer.headers.get("Content-Length", 0))
    except OSError as error:
        return f"no answer ({type(error).__name__})"
    if not answer.ok:
        return f"refused: {answer.status_code} {answer.reason}"
    return f"there, {size / 1e6:,.1f} MB" if size else "there, size not said"
