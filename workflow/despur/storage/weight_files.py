"""Weights of encoders: which files an encoder declares, which of them are missing, and what tells one version of them
from another. No torch here.

What an encoder's file declares: ``WEIGHTS``, patterns below DESPUR_WEIGHTS_ROOT, in the form of those of raw files;
``WEIGHTS_WITH``, more of them by values of settings (``weights=pretrained``, ``checkpoint=cloob model=RN50``;
``checkpoint=*`` stands for all values that are not named before); ``DOWNLOADED``, where missing ones come by
themselves. What was made with a file is made anew when its contents change."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from despur.specs.declarations import read_declarations
from despur.specs.spec import Spec
from despur.specs.stages import PARTS
from despur.storage import raw_files
from despur.storage.pretrained import locate_weights, note_file, weights_root
from despur.storage.reading import InputError


def list_encoders(points: Iterable[Spec], without: tuple[str, ...] = PARTS) -> Iterator[Spec]:
    """The encoders of specifications that declare weights; those of an earlier stage only where it is not left out."""
    parts = (part for point in points for part in point.walk(without))
    return (part for part in parts if part.kind == "encoders" and raw_files.list_patterns(part))


def list_missing(encoder: Spec) -> list[str]:
    """The weights that an encoder lacks, as paths: of alternatives, the last, which is the one that is downloaded."""
    return [str(locate_weights(pattern)) for pattern in raw_files.list_missing(encoder, weights_root())]


def identify_weights(encoders: Iterable[Spec]) -> dict[str, str]:
    """The checksum of each file of weights that is there, by its path below the folder of weights. Left out: files that
    are as they were downloaded or published, so that nothing changes when a missing one comes."""
    weights = {}
    for encoder in encoders:
        downloads = read_declarations("encoders", encoder.base_name).get("DOWNLOADS", ())
        published = {download.get("checksum", "").removeprefix("sha256:") for download in downloads}
        for name, note in read_notes(encoder).items():
            if note["sha256"] not in published | {note.get("downloaded")}:
                weights[name] = note["sha256"]
    return weights


def read_notes(encoder: Spec) -> dict[str, dict[str, Any]]:
    """What is known of each file of an encoder's weights that is there (:func:`read_note`), by its path below the
    folder of weights."""
    files = raw_files.list_files(raw_files.list_patterns(encoder), weights_root())
    return {str(file.relative_to(weights_root())): read_note(file) for file in files}


def read_note(file: Path) -> dict[str, Any]:
    """What is known of a file: its checksum ``sha256``, and the one that it had when it was ``downloaded``. The file is
    read only where its size, time or place on the disk are others than when it was last read; the note beside it says
    so."""
    place, status = note_file(file), file.stat()
    try:
        note = json.loads(place.read_text()) if place.exists() else {}
    except ValueError:
        note = {}
    state = [status.st_size, status.st_mtime_ns, status.st_ino]
    if note.get("state") != state:
        from despur.storage.store import write_json

        note |= {"state": state, "sha256": raw_files.sha256(file)}
        with suppress(InputError, OSError):  # where the folder cannot be written, the file is read again the next time
            write_json(place, note)
    return note
