"""Models of the Hugging Face hub by one word, which is also their folder below DESPUR_WEIGHTS_ROOT: ``OWNER--NAME`` for
OWNER/NAME, and ``OWNER--NAME--COMMIT`` for its files at a commit (40 hexadecimal digits). Only those of a commit are
downloaded; others lie there already."""

import re
from pathlib import Path
from typing import Any

from despur.specs.declarations import read_declarations
from despur.specs.spec import Spec
from despur.storage.pretrained import HUB, fetch, locate_weights, remedy
from despur.storage.reading import InputError

# Of a tokenizer: what transformers' save_pretrained writes, or of the last file what older models have instead.
TOKENIZER = (
    *("hf/{model}/config.json", "hf/{model}/tokenizer_config.json"),
    "hf/{model}/vocab.txt | hf/{model}/vocab.json | hf/{model}/tokenizer.json",
)


def split_commit(model: str) -> tuple[str, str]:
    """The name of a model, and the commit that it ends with, if it does."""
    match = re.fullmatch(r"(.+)--([0-9a-f]{40})", model)
    return (match[1], match[2]) if match else (model, "")


def address(model: str) -> str:
    """The folder of a model's files on the hub."""
    name, commit = split_commit(model)
    return f"{HUB}{name.replace('--', '/')}/resolve/{commit or 'main'}/"


def find_hub_file(pattern: str, model: str) -> Path:
    """The file of a pattern (:func:`locate_weights`), downloaded if ``model`` ends with a commit. Raises InputError for
    one that is missing and not downloaded."""
    path = locate_weights(pattern)
    if split_commit(model)[1] or path.exists():
        return fetch(pattern, address(model))
    raise InputError(
        f"{path} is not there. {remedy(path, address(model))}; or add the commit of the hub to download to the name of "
        f"the model: {model}--COMMIT"
    )


def how_to_download(encoder: Spec) -> str:
    """How a message about missing weights ends: what to name, where they are downloaded at a commit only."""
    declared = read_declarations("encoders", encoder.base_name).get("DOWNLOADED")
    if not str(declared).startswith("model=*--"):
        return ""
    return f"; a model whose name ends with a commit of the hub is downloaded: {encoder.settings['model']}--COMMIT"


def load_hub_tokenizer(model: str) -> Any:
    """The tokenizer of a model, from ``hf/MODEL``. Raises InputError for files that are missing or hold something
    else."""
    from transformers import AutoTokenizer

    path = [find_hub_file(pattern.format(model=model), model) for pattern in TOKENIZER][-1]
    try:
        return AutoTokenizer.from_pretrained(str(path.parent), local_files_only=True)
    except Exception as error:  # tokenizers has errors of its own
        raise InputError(f"{path} cannot be read ({error}). {remedy(path, address(model))}") from error
