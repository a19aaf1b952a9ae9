"""Results on disk: atomic writes, one form for every data set. No torch here."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from despur.specs.stages import BUILT
from despur.storage import checksums
from despur.storage.disk import create_temporary, explain_refusal, is_held, put_in_place
from despur.storage.reading import InputError as InputError
from despur.storage.reading import read_json, read_parquet, reading

Array = npt.NDArray[Any]
NO_MASKS = np.empty((0, 0, 0), dtype=bool)
MISSING = -1  # the attribute of a sample of which it is not known, and the class of an unlabelled one
HELD_OUT = "held_out"  # the part of the split that selects on which a method trains (despur/compute/held_out.py)
ROWS = 512  # of a data set's inputs that are made and written at once


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that replaces it only if the block succeeds. Raises InputError where the disk
    takes no more, and for what exists and is no regular file."""
    temporary = None
    try:
        handle, name = create_temporary(path)
        temporary = Path(name)
        with os.fdopen(handle) as lock:
            is_held(lock.fileno())
            yield temporary
            put_in_place(temporary, path)
    except InputError:
        raise  # it names its own file, which is another one
    except Exception as error:
        if why := explain_refusal(error, path.parent):
            raise InputError(
                f"{path} cannot be written: {why}. Make room, or let its folder be a link, and run it again"
            ) from error
        raise
    finally:
        if temporary:
            temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    with atomic(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, sort_keys=True) + "\n")


def write_csv(path: Path, table: pd.DataFrame) -> None:
    with atomic(path) as temporary:
        table.to_csv(temporary, index=False)


@dataclass(frozen=True)
class Lazy:
    """An array that is made when it is sliced, so that images of many gigabytes never lie in memory as a whole."""

    shape: tuple[int, ...]
    dtype: npt.DTypeLike
    make: Callable[[slice], Array]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Array:
        return self.make(rows)


@dataclass(eq=False)
class Dataset:
    """What a data set's file builds.

    ``inputs``: uint8 images (N,H,W,C), float embeddings (N,D) or int tokens (N,T). ``table``: one row a sample with
    ``split``, class ``y``, attribute ``a`` (``MISSING`` where it is not known of a training sample) and ``original``
    (samples made from the same original share it). ``about``: names of ``classes`` and ``attributes``, how inputs are
    presented, which split selects (``val`` by default) and which is the headline (``test``).
    ``groups``: boolean (N,G) evaluation groups with ``about["groups"]`` their names; by default
    ``class_attribute_groups``. They may overlap, and a sample may be in none. ``masks``: boolean (N,H,W), true on the
    foreground; None where it is not known. ``class_embeddings``: float (C,D), for samples that are embeddings of a
    model that embeds classes too."""

    inputs: Array | Lazy
    table: pd.DataFrame
    about: dict[str, Any]
    groups: Array | None = None
    masks: Array | Lazy | None = None
    class_embeddings: Array | None = None

    def __post_init__(self) -> None:
        self.about = {"select": "val", "headline": "test", **self.about}
        labeled = {"y", "a"} <= {*self.table.select_dtypes("integer")} and {"classes", "attributes"} <= {*self.about}
        if self.groups is None and labeled:  # else the data set checks say what is missing
            names = self.about["attributes"]
            self.about["groups"] = [f"{y}, {a}" for y in self.about["classes"] for a in names]
            self.groups = self.class_attribute_groups

    @property
    def class_attribute_groups(self) -> Array:
        """Class x attribute, boolean (N, classes x attributes): every sample is in exactly one; in none, if its
        attribute is missing."""
        shape = len(self.about["classes"]), len(self.about["attributes"])
        code = np.where(self.a == MISSING, MISSING, self.y * shape[1] + self.a)
        return code[:, None] == np.arange(shape[0] * shape[1])

    @property
    def y(self) -> Array:
        return self.table["y"].to_numpy()

    @property
    def a(self) -> Array:
        """The true attributes, (N,); ``MISSING`` where it is not known of a training sample."""
        return self.table["a"].to_numpy()

    def rows(self, split: str) -> Array:
        """Positions of a split's samples."""
        return np.flatnonzero(self.table["split"].to_numpy() == split)

    def rows_with_attribute(self, split: str) -> Array:
        """Positions of a split's samples whose attribute is known."""
        rows = self.rows(split)
        return rows[self.a[rows] != MISSING]

    @property
    def splits(self) -> list[str]:
        return list(pd.unique(self.table["split"]))

    @property
    def test_splits(self) -> list[str]:
        """The splits that are neither trained nor selected on."""
        return [s for s in self.splits if s not in ("train", "unlabelled", HELD_OUT, self.about["select"])]


def write_rows(path: Path, parts: Sequence[Array | Lazy]) -> None:
    """Write arrays one after the other into one .npy file, ``ROWS`` at a time: what is lazy is made as it is
    written."""
    kind = np.dtype(parts[0].dtype)
    header = {"descr": kind.str, "fortran_order": False, "shape": (sum(map(len, parts)), *parts[0].shape[1:])}
    with atomic(path) as temporary, temporary.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            for start in range(0, len(part), ROWS):
                file.write(np.ascontiguousarray(part[start : start + ROWS], kind).data)


def save_dataset(folder: Path, points: Mapping[str, Dataset]) -> None:
    """Write the points of a data set one after the other into one set of files; without masks, masks.npy has no
    rows."""
    parts = list(points.values())
    shapes = {p.inputs.shape[1:] for p in parts}
    if len(shapes) > 1:
        raise InputError(f"{folder}: samples of shapes {sorted(shapes)} cannot share a file; use one path for each")
    write_rows(folder / "inputs.npy", [p.inputs for p in parts])
    write_rows(folder / "masks.npy", [NO_MASKS if p.masks is None else p.masks for p in parts])
    with atomic(folder / "groups.npz") as temporary:
        of_classes = {
            f"class_embeddings/{name}": p.class_embeddings
            for name, p in points.items()
            if p.class_embeddings is not None
        }
        groups = np.concatenate([p.groups for p in parts if p.groups is not None])
        np.savez_compressed(temporary, groups=groups, **of_classes)  # type: ignore[arg-type]
    with atomic(folder / "table.parquet") as temporary:
        pd.concat([p.table.assign(point=name) for name, p in points.items()]).to_parquet(temporary, index=False)
    sums = checksums.list_checksums(folder, BUILT.values())
    about = {**{name: p.about for name, p in points.items()}, checksums.CHECKSUMS: sums}
    write_json(folder / "about.json", checksums.seal(about))


def map_array(path: Path) -> Array:
    """An array that stays on disk; changes are never written back."""
    with reading(path):
        return np.load(path, mmap_mode="c")


def load_dataset(folder: Path, point: str) -> Dataset:
    """One point of a data set; inputs and masks stay on disk, memory-mapped."""
    with reading(folder / "table.parquet") as file:
        table = read_parquet(file)
        where = np.flatnonzero(table["point"].to_numpy() == point)
    if not len(where):
        raise InputError(
            f"{folder} holds no {point}: delete {folder.resolve()}, then: snakemake {folder / 'about.json'}"
        )
    rows = slice(where[0], where[-1] + 1)
    with reading(folder / "about.json") as file:
        about = read_json(file)[point]
    with reading(folder / "groups.npz") as file, np.load(file) as arrays:
        groups, of_classes = arrays["groups"][rows], arrays.get(f"class_embeddings/{point}")
    inputs, masks = (map_array(folder / f"{name}.npy") for name in ("inputs", "masks"))
    samples = table.iloc[rows].drop(columns="point").reset_index(drop=True)
    return Dataset(inputs[rows], samples, about, groups, masks[rows] if len(masks) else None, of_classes)
