"""Data of one's own as the file from which the pipeline reads it (docs/your_own_data.md)."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch.utils.data

from despur.library.split_dataset import SplitDataset
from despur.specs.paths import data_root
from despur.specs.settings import SettingError
from despur.storage.store import Array, InputError, atomic

OWN_DATASET = "bring_your_own"  # the data set of a user's own files


def locate_data(
    data: str | SplitDataset | Mapping[str, torch.utils.data.Dataset[Any]], folder: Path
) -> tuple[str, Path]:
    """The name of a data set and the folder of its raw files; data of one's own is written below ``folder``."""
    if isinstance(data, str):
        return data, data_root()
    if isinstance(data, SplitDataset):
        return data.name, data.root
    if not isinstance(data, Mapping):
        raise SettingError(f"data is {type(data).__name__}: name a data set, or bring {{'train': ..., 'val': ...}}")
    arrays = collect_arrays(data)
    told = [f"{key} {array.dtype} {array.shape}".encode() + array.tobytes() for key, array in arrays.items()]
    name = f"own_{hashlib.sha256(b''.join(told)).hexdigest()[:8]}"
    root = folder / "own_data"
    (root / OWN_DATASET).mkdir(parents=True, exist_ok=True)
    if not (file := root / OWN_DATASET / f"{name}.npz").exists():
        with atomic(file) as temporary, temporary.open("wb") as opened:
            np.savez(opened, **arrays)  # type: ignore[arg-type]
    return f"{OWN_DATASET}+name={name}", root


def list_samples(every: Any) -> Iterable[Any]:
    """All samples of a split: one that has a length need not end by itself."""
    return (every[i] for i in range(len(every))) if hasattr(every, "__len__") else every


def collect_arrays(splits: Mapping[str, torch.utils.data.Dataset[Any]]) -> dict[str, Array]:
    """The arrays of a file of one's own data (docs/your_own_data.md)."""
    samples = [(split, sample) for split, every in splits.items() for sample in list_samples(every)]
    if not samples or any(not isinstance(sample, (tuple, list)) or len(sample) != 3 for _, sample in samples):
        raise SettingError("each sample is (input, class, attribute); -1 is an attribute that is not known")
    names, inputs, y, a = zip(*((split, *sample) for split, sample in samples), strict=True)
    stored = [store_input(np.asarray(sample_input)) for sample_input in inputs]
    if len({array.shape for array in stored}) > 1:
        raise InputError(f"inputs have the shapes {sorted({array.shape for array in stored})}: bring one shape")
    return {"features": np.stack(stored), "y": np.array(y), "a": np.array(a), "split": np.array(names)}


def store_input(given: Array) -> Array:
    """An input as files keep it: an embedding as it is, an image as uint8 (H,W,C)."""
    if given.ndim == 3 and given.dtype.kind == "f":
        if given.shape[0] not in (1, 3):
            raise InputError(f"a float image has the shape {given.shape}: bring (C,H,W) of 1 or 3 channels")
        if not (given.min() >= 0 and given.max() <= 1):  # as of NaN
            raise InputError(f"an image has values from {given.min():g} to {given.max():g}: float images are in [0,1]")
        return np.rint(given.transpose(1, 2, 0) * 255).astype(np.uint8)
    return given
