"""Pretrained weights: where they lie (a fact of the machine, DESPUR_WEIGHTS_ROOT), from where they come, what to do if
they do not."""

import json
import os
from pathlib import Path

from despur.storage.raw_files import choose_alternative, sha256
from despur.storage.reading import InputError

HUB = "https://huggingface.co/"
BERT = f"{HUB}google-bert/bert-base-uncased/resolve/main/"


def weights_root() -> Path:
    return Path(os.environ.get("DESPUR_WEIGHTS_ROOT", "weights"))


def locate_weights(pattern: str) -> Path:
    """The first of a pattern's alternatives ("a | b") that lies below ``weights_root``; else the last one."""
    return weights_root() / (choose_alternative(pattern, weights_root()) or pattern.rpartition("|")[2].strip())


def fetch(pattern: str, url: str) -> Path:
    """The file of a pattern (:func:`locate_weights`), downloaded from the folder ``url`` where it is not there. Raises
    InputError if there is neither file nor network."""
    path = locate_weights(pattern)
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
