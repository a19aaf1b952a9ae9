"""``despur.dataset``: a data set as a ``torch.utils.data.Dataset``."""

from pathlib import Path

import numpy as np
import torch
import torch.utils.data
from torch import Tensor

from despur.compute.input_batcher import InputBatcher
from despur.specs.extras import name_extra
from despur.specs.paths import data_root
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.dataset_checks import build_dataset
from despur.storage.store import Array, Dataset


class SplitDataset(torch.utils.data.Dataset[tuple[Tensor, int, int]]):
    """The samples of one split: (input, class, attribute) of each.

    Inputs are as encoders see them: images float (C,H,W) in [-1,1], cropped at the center; embeddings (D,); tokens
    (T,). Classes and attributes are positions in ``classes`` and ``attributes``; -1: not known. ``group_mask``: bool
    (N,G), the class-attribute groups called ``groups``."""

    def __init__(self, stored: Dataset, name: str, root: Path, split: str) -> None:
        self.stored, self.name, self.root = stored, name, root
        self.rows = stored.rows(split)
        self.classes, self.attributes = stored.about["classes"], stored.about["attributes"]
        self.groups = stored.about["groups"]
        self.group_mask: Array = np.empty(0) if stored.groups is None else stored.groups[self.rows]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, position: int) -> tuple[Tensor, int, int]:
        row = int(self.rows[position])
        kept = torch.from_numpy(np.array(self.stored.inputs[row : row + 1]))
        batcher = InputBatcher(kept, self.stored.about.get("size", 0))
        shown = batcher.batch(np.zeros(1, int), np.random.default_rng(0))[0]
        return shown, int(self.stored.y[row]), int(self.stored.a[row])


@name_extra()
def dataset(name: str, root: str | Path | None = None, split: str = "train") -> SplitDataset:
    """A split of a data set, built in memory.

    ``name``: of the data set, with settings if you like (``cmnist+p_corr=0.9``); ``split``: one that it has. ``root``:
    the folder of raw files (default: DESPUR_DATA_ROOT, or data); bundled data sets need none. Raises InputError where
    raw files are missing, SettingError for a name, setting or split that does not exist.

    >>> import despur
    >>> digits = despur.dataset("colored_digits", split="test")
    >>> image, y, a = digits[0]
    >>> image.shape, digits.classes[y], digits.attributes[a]
    (torch.Size([3, 32, 32]), '0,1', 'color 0')
    >>> len(digits), digits.group_mask.shape
    (2250, (2250, 25))
    """
    points = resolve("datasets", name).points
    if len(points) > 1 or points[0].source:
        raise SettingError(f"{name}: one data set of raw files, not several and not representations of a model")
    folder = Path(root) if root else data_root()
    stored = build_dataset(points[0], folder)
    if split not in stored.splits:
        raise SettingError(f"{name} has no split {split}; it has {', '.join(stored.splits)}")
    return SplitDataset(stored, points[0].name, folder, split)
