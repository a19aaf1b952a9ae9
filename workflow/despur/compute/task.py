"""What a method is given: training samples, labels, the inferred attribute, outputs of stage 1."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.chunks import apply_network
from despur.compute.read_ahead import read_ahead
from despur.compute.transfer import to_device
from despur.storage.store import Array, Dataset


@dataclass
class PerSample:
    """A value of each sample (N,...), on the device; indexed by rows from the CPU."""

    values: Tensor

    def __getitem__(self, rows: Array | Tensor) -> Tensor:
        return self.values[to_device(rows, self.values.device)]


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
        top, left = self._corners(len(rows), rng, windows)
        pixels = windows[where, top, left]  # (B,size,size,C): channels_last once permuted
        return to_device(pixels, device).permute(0, 3, 1, 2).float().div_(127.5).sub_(1)

    def _locate(self, rows: Array, device: torch.device) -> tuple[Tensor, Tensor]:
        """Inputs, and the places of these rows in them: those that have been read ahead, else all."""
        if self.ready is not None and np.array_equal(rows, self.ready[0]):
            return to_device(self.ready[1], device), torch.arange(len(rows), device=device)
        where = to_device(rows, self.inputs.device)
        return self.inputs, where if self.rows is None else self.rows[where]

    def _corners(self, count: int, rng: np.random.Generator, windows: Tensor) -> tuple[Tensor, Tensor]:
        spare = windows.shape[1:3]
        if self.crop == "centre":
            corners = np.tile([[(n - 1) // 2] for n in spare], count)
        else:
            corners = np.stack([rng.integers(0, n, count) for n in spare])
        top, left = to_device(corners, windows.device)
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


@dataclass
class Stage1Outputs:
    """Outputs of a stage-1 model: its logits of the training samples (N,C), and the weights of its head (C,D).

    Of a foundation model: cosines, and the embeddings of the class prompts; ``group_prompts`` (C,A,D), those of
    prompts that name the attribute too, or None; ``length``, the root mean square length of its embeddings before
    they are scaled to 1."""

    logits: Array
    head: Array
    group_prompts: Array | None = None
    length: float = 1.0


@dataclass
class Task:
    """The training set as a method may see it.

    ``y``: classes (N,), -1 where unknown. ``inferred_attribute``: the inferred (or, by oracle, true) attribute (N,).
    ``about``: names of classes and attributes, how inputs are cropped, and the ``dataset``. ``originals``: the original
    of each sample. ``class_embeddings``: (C,D), where the data set has them. ``stage1_outputs``: for a method that
    reads a stage-1 model. ``label_rank``: the order in which few labels are given, where the data set has one.
    ``start``: the weights of a stage-1 encoder, for a method that starts from them."""

    batcher: InputBatcher
    y: Array
    num_classes: int
    device: torch.device
    inferred_attribute: Array | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    originals: Array | None = None
    class_embeddings: Array | None = None
    stage1_outputs: Stage1Outputs | None = None
    label_rank: Array | None = None
    start: dict[str, Tensor] | None = None
    labels: PerSample = field(init=False)

    def __post_init__(self) -> None:
        self.labels = self.per_sample(self.y)

    def per_sample(self, values: Array) -> PerSample:
        """Values of all samples, on the device."""
        return PerSample(torch.from_numpy(np.array(values)).to(self.device))

    def __len__(self) -> int:
        return len(self.y)


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


def head_of(networks: nn.ModuleDict) -> nn.Module | None:
    """The network from representations to logits. None for a self-supervised method."""
    return networks["head"] if "head" in networks else None  # noqa: SIM401 (a ModuleDict has no get)


@torch.no_grad()
def encode(
    encoder: nn.Module, head: nn.Module | None, batcher: InputBatcher, rng: np.random.Generator
) -> dict[str, Any]:
    """Representations ``z``, float16, and (with a head) ``logits``, float32, of all samples, in evaluation mode; arrays
    on the CPU.

    In float16 the logits of two classes are often equal, and the lower class would be predicted."""
    encoder.eval()
    z = [apply_network(encoder, x) for x in batcher.batches(batcher.max_batch, rng)]
    outputs = {"z": torch.cat(z).half().cpu().numpy()}
    if head is not None:
        outputs["logits"] = torch.cat([head(rows) for rows in z]).float().cpu().numpy()
    return outputs
