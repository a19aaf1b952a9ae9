"""Downloads of raw files and weights: resumed, verified, unpacked. What is downloaded is data: ``DOWNLOADS`` in the
file of a data set or encoder, a mapping for each file with the keys

- ``url``: where it is; left out: the ``SOURCE`` that the file names. https, or the checksum is ``sha256:...``
- ``mirrors``: further addresses of the same file, tried in turn
- ``file``: what it becomes, below the folder of raw data or of weights; left out: it is an archive that is unpacked
- ``into``: the folder in which an archive is unpacked, for one that does not bring a folder of its own
- ``brings``: a folder that an archive makes, by which it is known that it was unpacked; left out: ``into``
- ``name``: of an archive, where the address does not end with it
- ``checksum``: ``md5:...`` or ``sha256:...``, as published; left out: it is recorded when the file first comes
- ``size``: bytes, where published; ``license``: where the file does not state it otherwise
- ``only_with``: the values of settings with which the file is needed, ``checkpoint=openai model=RN*``; left out: always
- ``read_in``: where these facts were read

``BY_HAND`` says what to do where an account or a form is needed."""

import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import shorten
from typing import Any
from urllib.parse import urlsplit

from despur.specs.conditions import meets
from despur.specs.settings import Settings
from despur.storage.addresses import LOCAL, RECORD, load_record, note_address
from despur.storage.archives import refuse_existing, unpack
from despur.storage.raw_files import choose_alternative
from despur.storage.store import InputError, write_json

PARTS = ".downloads"  # unfinished downloads and archives, there too
SECONDS = 30  # without an answer, before a download gives up
Report = Callable[[int, int], None]  # called with the bytes that are there, and all bytes (0: not known)


@dataclass(frozen=True)
class Download:
    """One file to be downloaded."""

    url: str
    read_in: str
    file: str = ""
    into: str = ""
    brings: str = ""
    name: str = ""
    checksum: str = ""
    size: int = 0
    license: str = ""
    mirrors: tuple[str, ...] = ()
    only_with: str = ""

    @property
    def addresses(self) -> tuple[str, ...]:
        """All addresses, in the order in which they are tried."""
        return (self.url, *self.mirrors)

    @property
    def local_name(self) -> str:
        """What the file is called while it is downloaded."""
        return self.name or self.url.rstrip("/").rpartition("/")[2]

    def is_needed(self, settings: Settings) -> bool:
        """Whether the file is needed with these settings."""
        return meets(settings, self.only_with)

    def is_there(self, root: Path, patterns: Iterable[str] = ()) -> bool:
        """Whether the file, or the folder that an archive makes, is there; or what it would bring of the raw files that
        these patterns stand for, under other names."""
        place = self.file or self.brings or self.into
        brought = [pattern for pattern in patterns if any(is_within(each, place) for each in pattern.split("|"))]
        return (root / place).exists() or (
            bool(brought) and all(choose_alternative(pattern, root) for pattern in brought)
        )


def is_within(pattern: str, place: str) -> bool:
    """Whether a pattern stands for a file or folder, or for files in it."""
    return fnmatchcase(place, "/".join(pattern.strip().split("/")[: place.count("/") + 1]))


def fetch_file(download: Download, root: Path, report: Report) -> str:
    """Download a file, verify it and put it where it belongs; returns its checksum, ``sha256:...`` or as published.

    The addresses are tried in turn. A download that broke off goes on where it was. Nothing that is there is replaced.
    Raises InputError where no address gives the file: for a broken connection, or a wrong checksum (the file is then
    not kept); and for a target that is there already."""
    import pooch

    checksum = download.checksum or load_record(root).get(download.url, "")
    path = try_addresses(download, checksum, root, report)
    checksum = checksum or f"sha256:{pooch.file_hash(path)}"
    place_file(download, path, root)
    if not download.checksum:
        write_json(root / RECORD, {**load_record(root), download.url: checksum})
    return checksum


def try_addresses(download: Download, checksum: str, root: Path, report: Report) -> Path:
    """The file, from the first address that gives it. Raises InputError with what each one said."""
    failures = []
    for address in download.addresses:
        try:
            path = retrieve(address, download, checksum, root / PARTS, report)
        except InputError as error:
            note_address(root, address, shorten(f"failed: {error}", 150))
            failures.append(str(error))
        else:
            note_address(root, address, "downloaded")
            return path
    raise InputError("; ".join(failures))


def retrieve(address: str, download: Download, checksum: str, folder: Path, report: Report) -> Path:
    """The file at one address, in ``folder``. What another one has left goes on only where a checksum verifies it."""
    import pooch

    where = urlsplit(address)
    if where.scheme != "https" and not checksum.startswith("sha256:") and where.hostname not in LOCAL:
        raise InputError(f"{address} is not https, and no SHA-256 is known by which the file could be verified")
    folder.mkdir(parents=True, exist_ok=True)
    part = Path(f"{folder / download.local_name}.part")
    if not checksum and address != download.url:
        part.unlink(missing_ok=True)

    def resume(url: str, output: Any, _: Any) -> None:
        download_rest(url, part, report)
        refuse_page(part, url)
        part.replace(output)

    try:
        return Path(pooch.retrieve(address, checksum or None, download.local_name, folder, downloader=resume))
    except ValueError as error:  # pooch's word for a wrong checksum
        record = f", as of the first download; if that was wrong, take the line {download.url} out of "
        known = "" if download.checksum else f"{record}{folder.parent / RECORD}"
        raise InputError(f"{address}: wrong checksum, the download is not kept; expected {checksum}{known}") from error


def refuse_page(path: Path, url: str) -> None:
    """Raises InputError for a web page, which a server may send in place of a file; it is not kept."""
    with path.open("rb") as file:
        start = file.read(1000).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        path.unlink()
        raise InputError(f"{url} gives a web page, which is not kept: open it in a browser, the file may have moved")


def download_rest(url: str, part: Path, report: Report) -> None:
    """Append to ``part`` what it lacks of the file at ``url``. Raises InputError where the connection breaks; what has
    come is kept."""
    import requests

    start = part.stat().st_size if part.exists() else 0
    try:
        with requests.get(url, headers={"Range": f"bytes={start}-"}, stream=True, timeout=SECONDS) as answer:
            if answer.status_code == 416:  # nothing is left
                return
            answer.raise_for_status()
            start = start if answer.status_code == 206 else 0
            total = start + int(answer.headers.get("Content-Length", 0))
            with part.open("ab" if start else "wb") as file:
                for block in answer.iter_content(2**20):
                    file.write(block)
                    report(file.tell(), total)
        if total > part.stat().st_size:
            raise requests.ConnectionError(f"{part.stat().st_size:,} of {total:,} bytes came")
    except OSError as error:  # of the connection (requests' errors are among them) or of the disk
        raise InputError(
            f"{url} could not be downloaded ({error}). The same command goes on where it was, from {part}"
        ) from error


def place_file(download: Download, path: Path, root: Path) -> None:
    """Move a file to its place, or unpack an archive there and remove it. Raises InputError for what is there
    already."""
    if download.file:
        refuse_existing(root / download.file)
        (root / download.file).parent.mkdir(parents=True, exist_ok=True)
        path.replace(root / download.file)
        return
    with tempfile.TemporaryDirectory(dir=path.parent) as temporary:
        unpack(path, Path(temporary))
        target = root / download.into
        entries = sorted(Path(temporary).iterdir())
        for entry in entries:
            refuse_existing(target / entry.name)
        target.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            shutil.move(entry, target / entry.name)
    path.unlink()
