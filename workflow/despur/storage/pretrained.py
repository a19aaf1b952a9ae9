"""Pretrained weights: where they lie (a fact of the machine, DESPUR_WEIGHTS_ROOT), from where they come, what to do if
they do not."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from despur.storage.raw_files import sha256
from despur.storage.reading import InputError

HUB = "https://huggingface.co/"
BERT = f"{HUB}google-bert/bert-base-uncased/resolve/main/"


def weights_root() -> Path:
    return Path(os.environ.get("DESPUR_WEIGHTS_ROOT", "weights"))


def fetch(names: Sequence[str], url: str) -> Path:
    """The first of these files that lies under ``weights_root``; else the last one, downloaded there from the folder
    ``url``.

    Raises InputError if there is neither file nor network.
    """
    paths = [weights_root() / name for name in names]
    path = next((path for path in paths if path.exists()), paths[-1])
    if not path.exists():
        import pooch

        try:
            pooch.retrieve(url + path.name, None, path.name, path.parent, progressbar=False)
        except Exception as error:
            raise InputError(
                f"{path} is not there and could not be downloaded ({error}). {remedy(path, url)}"
            ) from error
        note_file(path).write_text(json.dumps({"downloaded": sha256(path)}))
    return path


def note_file(file: Path) -> Path:
    """Where the checksum of a file of weights is kept (despur/storage/weight_files.py)."""
    return file.with_name(f".{file.name}.json")


def remedy(path: Path, url: str) -> str:
    folder = path.relative_to(weights_root()).parent
    return (
        f"Put {url}{path.name} into {path.parent}, or set DESPUR_WEIGHTS_ROOT to the folder that holds "
        f"{folder / path.name}"
    )
