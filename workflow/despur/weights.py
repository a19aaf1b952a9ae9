"""Pretrained weights: where they lie (a fact of the machine, DESPUR_WEIGHTS_ROOT), and what to do if they do not."""

import os
from pathlib import Path
from typing import Any

from despur.store import InputError, sha256


def weights_root() -> Path:
    return Path(os.environ.get("DESPUR_WEIGHTS_ROOT", "weights"))


def torch_file(urls: list[str]) -> dict[str, Any]:
    """The state of the first of these files that lies in ``weights_root``; else the last one, downloaded there.

    Names end with the beginning of the file's SHA-256, which is checked. Raises InputError.
    """
    import torch

    url = next((url for url in urls if (weights_root() / Path(url).name).exists()), urls[-1])
    path = weights_root() / Path(url).name
    try:
        if path.exists():
            if not sha256(path).startswith(path.stem.rpartition("-")[2]):
                raise ValueError("wrong checksum: corrupt or truncated; the file is kept, move it away")
            return torch.load(path, map_location="cpu", weights_only=True)
        return torch.hub.load_state_dict_from_url(url, str(weights_root()), "cpu", progress=False, check_hash=True, weights_only=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(
            f"{path} is needed and cannot be read or downloaded ({error}). Put {url} there, or set DESPUR_WEIGHTS_ROOT to its folder"
        ) from error
