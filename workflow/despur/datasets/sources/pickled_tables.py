"""Pickled arrays and pandas tables, read without running code from them."""

import io
import pickle
import struct
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from despur.storage.store import InputError

UNREADABLE = (  # what unpickling raises for bytes that are no whole pickle
    *(pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError),
    *(OverflowError, MemoryError, OSError, RecursionError, struct.error),
)
NAMES = {  # what a pickled table may need; a pickle can name any function, so others are refused
    "_codecs": ("encode",),
    "__builtin__": ("slice",),
    "builtins": ("slice",),
    "numpy": ("ndarray", "dtype"),
    "numpy.core.multiarray": ("_reconstruct", "scalar"),
    "numpy._core.multiarray": ("_reconstruct", "scalar"),
    "numpy.core.numeric": ("_frombuffer",),
    "numpy._core.numeric": ("_frombuffer",),
    "pandas._libs.internals": ("_unpickle_block",),
    "pandas.core.frame": ("DataFrame",),
    "pandas.core.indexes.base": ("_new_Index", "Index"),
    "pandas.core.indexes.range": ("RangeIndex",),
    "pandas.core.internals.managers": ("BlockManager",),
    "torch._utils": ("_rebuild_tensor_v2",),
}


def _load_storage(content: bytes) -> Any:
    """The numbers of a pickled tensor, in the place of torch's function, which would run code."""
    import torch

    return torch.load(io.BytesIO(content), weights_only=True)


REPLACED = {
    ("pandas.core.indexes.numeric", "Int64Index"): pd.Index,  # pandas 1
    ("torch.storage", "_load_from_bytes"): _load_storage,
    ("collections", "OrderedDict"): OrderedDict,
}


class _Data(pickle._Unpickler):  # written in Python: what sets the state of an object can be checked
    dispatch: ClassVar[dict[int, Any]] = {**pickle._Unpickler.dispatch}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in REPLACED:
            return REPLACED[module, name]
        if name in NAMES.get(module, ()):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it needs {module}.{name}")

    def load_build(self) -> None:
        """Refuse to change functions and classes, and types of numbers in which bytes would pass for objects."""
        changed, state = self.stack[-2:]  # type: ignore[attr-defined]
        forged = isinstance(changed, np.dtype) and state[2:8] != changed.__reduce__()[2][2:8]
        if callable(changed) or forged:
            raise pickle.UnpicklingError(f"it changes {changed!r}")
        super().load_build()  # type: ignore[misc]

    dispatch[pickle.BUILD[0]] = load_build


def read_pickled_data(path: Path, encoding: str = "ASCII") -> Any:
    """What a pickle of arrays, tensors, pandas tables and plain types holds; ``encoding`` of texts of Python 2.

    Raises InputError, naming the file, if it is none, or needs anything else."""
    try:
        with path.open("rb") as file:
            return _Data(file, encoding=encoding).load()
    except UNREADABLE as error:
        said = f"{path} cannot be read as a pickle of arrays and tables ({type(error).__name__}: {error})"
        raise InputError(f"{said}: get it anew, or save it as .parquet where that is read") from error


def stack_cells(path: Path, cells: Iterable[Any], ndim: int) -> np.ndarray[Any, Any]:
    """Cells of the same shape (...) as one array (N,...) of ``ndim`` dimensions. Raises InputError otherwise."""
    try:
        stacked = np.stack([np.asarray(cell) for cell in cells])
    except ValueError as error:
        raise InputError(f"{path}: samples have different shapes ({error})") from error
    if stacked.ndim != ndim or stacked.dtype.kind not in "fu":
        raise InputError(f"{path} holds {stacked.dtype} {stacked.shape}; it must hold numbers in {ndim} dimensions")
    return stacked
