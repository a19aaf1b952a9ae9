"""Batches for an encoder, from stored inputs; which inputs lie on the device."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from despur.compute.read_ahead import read_ahead
from despur.compute.transfer import to_device
from despur.storage.store import Array, Dataset


@dataclass
class InputBatcher:
    """Turns stored inputs into batches for an encoder.

    Images: uint8 (N,H,W,C) -> float (B,C,size,size) in [-1, 1], cropped at random (training) or at the center. Float
    embeddings (N,D) and int tokens (N,T) do not change. Inputs stay on the device (on a CPU: memory-mapped, never
    copied as a whole). A batch is one indexed copy, on ``device``. ``rows``: the inputs to use, by default all."""

    inputs: Tensor
    size: int = 0
    crop: str = "centre"
    rows: Tensor | None = None
    device: torch.device | None = None  # where inputs are by default
    windows: Tensor = field(init=False)
    ready: tuple[Array, Tensor] | None = field(default=None, init=False)  # rows that have been read, and their inputs

    def __post_init__(self) -> None:
        if self.is_image:
            self.windows = self.cut_windows(self.inputs)

    def cut_windows(self, images: Tensor) -> Tensor:
        """A view of all squares of images (B,H,W,C): (B, tops, lefts, size, size, C)."""
        return images.unfold(1, self.size, 1).unfold(2, self.size, 1).permute(0, 1, 2, 4, 5, 3)

    def __len__(self) -> int:
        return len(self.inputs) if self.rows is None else len(self.rows)

    @property
    def is_image(self) -> bool:
        return self.inputs.dtype == torch.uint8

    @property
    def is_tokens(self) -> bool:
        return not self.inputs.is_floating_point() and not self.is_image

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of one sample as the encoder sees it."""
        return (self.inputs.shape[3], self.size, self.size) if self.is_image else tuple(self.inputs.shape[1:])

    @property
    def is_off_device(self) -> bool:
        """Whether inputs lie elsewhere than where batches are needed."""
        return self.device is not None and self.device.type != self.inputs.device.type

    def read_ahead(self, batches: Sequence[Array]) -> Iterator[Array]:
        """These batches of rows, one after the other; if inputs are not on the device, a thread reads the inputs of
        the next ones meanwhile. The samples that :meth:`batch` gives do not change."""
        if not self.is_off_device or not all(isinstance(rows, np.ndarray) for rows in batches):
            yield from batches
            return
        try:
            for rows, inputs in zip(batches, read_ahead(self.inputs, batches, self.rows), strict=True):
                self.ready = rows, inputs
                yield rows
        finally:
            self.ready = None

    @property
    def once_per_step(self) -> bool:
        """Whether a sample is the same wherever it occurs in a step, so that it can be encoded once."""
        return self.crop != "presentation"

    def batch(self, rows: Array, rng: np.random.Generator) -> Tensor:
        """Samples (B,...) at these rows."""
        device = self.device or self.inputs.device
        inputs, where = self._locate(rows, device)
        if not self.is_image:
            return to_device(inputs[where], device)
        windows = self.windows if inputs is self.inputs else self.cut_windows(inputs)
        places = where, *self._corners(len(rows), rng, windows)
        if windows.device.type == "cpu":  # numpy copies whole lines of pixels, torch single bytes
            pixels = torch.from_numpy(windows.numpy()[tuple(np.asarray(place) for place in places)])
        else:
            pixels = windows[places]  # (B,size,size,C): channels_last once permuted
        return to_device(pixels, device).permute(0, 3, 1, 2).float().div_(127.5).sub_(1)

    def _locate(self, rows: Array, device: torch.device) -> tuple[Tensor, Tensor]:
        """Inputs, and the places of these rows in them: those that have been read ahead, else all."""
        if self.ready is not None and np.array_equal(rows, self.ready[0]):
            return to_device(self.ready[1], device), torch.arange(len(rows), device=device)
        where = to_device(rows, self.inputs.device)
        return self.inputs, where if self.rows is None else self.rows[where]

    def _corners(
        self, count: int, rng: np.random.Generator, windows: Tensor
    ) -> tuple[Tensor, Tensor] | tuple[int, int]:
        """Top and left of each crop; of central ones one pair for all, which need not be copied to the device."""
        rows, columns = windows.shape[1:3]
        if self.crop == "centre":
            return (rows - 1) // 2, (columns - 1) // 2
        top, left = to_device(np.stack([rng.integers(0, n, count) for n in (rows, columns)]), windows.device)
        return top, left

    @property
    def max_batch(self) -> int:
        """How many samples are encoded at once: at most 2048, fewer where one sample is large (3x224x224: 111; 300
        tokens of 768 numbers: 72)."""
        numbers = math.prod(self.shape) * (1 if self.is_image or self.inputs.is_floating_point() else 768)
        return min(2048, max(1, 2**24 // numbers))

    def batches(self, size: int, rng: np.random.Generator) -> Iterator[Tensor]:
        """All samples in order."""
        for rows in self.read_ahead(np.array_split(np.arange(len(self)), max(1, -(-len(self) // size)))):
            yield self.batch(rows, rng)


@lru_cache(maxsize=2)
def on_device(dataset: Dataset, device: torch.device) -> Tensor:
    """All inputs of a data set on a device, copied there once. On a CPU, or if they need over half of a GPU's free
    memory, they are not copied."""
    inputs = torch.from_numpy(dataset.inputs)
    fits = device.type == "cpu" or inputs.nbytes <= torch.cuda.mem_get_info(device)[0] / 2
    return inputs.to(device) if fits else inputs


def present(dataset: Dataset, rows: Array, crop: str, device: torch.device) -> InputBatcher:
    """A batcher of the samples at these rows, on the device."""
    inputs = on_device(dataset, device)
    return InputBatcher(inputs, dataset.about.get("size", 0), crop, torch.from_numpy(rows).to(inputs.device), device)
