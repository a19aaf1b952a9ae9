"""Arrays of many runs in one safetensors file, keyed by run. No torch here."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from despur.storage.reading import name_remedy, reading
from despur.storage.store import Array, InputError, atomic


def save_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write arrays into one safetensors file, to be read by :class:`Container`."""
    # safetensors writes memory as it lies: a channels_last weight must be made contiguous
    with atomic(path) as temporary:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, temporary)


class Container:
    """Arrays of many runs in one safetensors file, read one at a time: ``container[f"{run.key}/best/z"]``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path):
            try:
                self.file = safe_open(path, framework="np")
            except SafetensorError as error:
                raise ValueError(str(error)) from error
        self.keys = set(self.file.keys())

    def __getitem__(self, key: str) -> Array:
        if key not in self.keys:
            raise InputError(f"{self.path} holds no {key}: {name_remedy(self.path)}")
        return self.file.get_tensor(key)

    def load_arrays(self, prefix: str) -> dict[str, Array]:
        """All arrays whose key starts with ``prefix/``, without it."""
        return {
            k.removeprefix(f"{prefix}/"): self.file.get_tensor(k)
            for k in sorted(self.keys)
            if k.startswith(f"{prefix}/")
        }

    def list_names(self, prefix: str) -> set[str]:
        """What stands next in the keys that start with ``prefix/``: the selections that were kept of a run."""
        return {k.removeprefix(f"{prefix}/").partition("/")[0] for k in self.keys if k.startswith(f"{prefix}/")}
