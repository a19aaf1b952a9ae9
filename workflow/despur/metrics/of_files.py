"""The metrics of files that define ``measure``, in the folders ``metrics`` of the package and of extensions."""

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from despur.metrics.groups import Row
from despur.specs.declarations import list_measures
from despur.storage.store import Array, Dataset, InputError


@cache
def load_measures() -> dict[str, Callable[..., Iterator[Row]]]:
    """The functions ``measure``, by file."""
    return {str(file): import_module(f"despur.metrics.{name}").measure for name, file in list_measures().items()}


def measure_by_files(
    dataset: Dataset, rows: Array, outputs: Mapping[str, Array], weights: Array, known: Collection[tuple[str, str]]
) -> Iterator[Row]:
    """What all of them measure of a split (docs/adding_a_metric.md). ``known``: (metric, group) that are measured
    already. Raises InputError, naming the file, for what is no row of a new metric."""
    taken = set(known)
    for file, measure in load_measures().items():
        measured: Any = measure(dataset, rows, outputs, weights)
        if not isinstance(measured, Iterator | list | tuple):
            raise InputError(f"{file}: measure gives {type(measured).__name__}: let it yield (metric, group, values)")
        for given in measured:
            check_row(file, given, len(weights))
            metric, group, values = given
            if (metric, group) in taken:
                raise InputError(f"{file}: measure gives {metric} of the group {group!r}, which is measured already")
            taken.add((metric, group))
            yield metric, group, values


def check_row(file: str, row: Any, count: int) -> None:
    """Raises InputError for what is no (metric, group, values), with a number for each of ``count`` rows of weights, or
    one."""
    if not (isinstance(row, tuple | list) and len(row) == 3 and all(isinstance(name, str) for name in row[:2])):
        raise InputError(f"{file}: measure gives {row!r:.100}: let it yield (metric, group, values)")
    values = np.asarray(row[2])
    if values.dtype.kind not in "fiub" or values.ndim > 1 or values.size not in (1, count):
        raise InputError(
            f"{file}: measure gives values {values.dtype} {values.shape} of {row[0]}: a number for each of the {count} "
            "rows of weights, (W,)"
        )
