"""What a method is given: training samples, labels, the inferred attribute, outputs of stage 1."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.chunks import apply_network
from despur.compute.input_batcher import InputBatcher
from despur.compute.transfer import to_device
from despur.storage.store import Array


@dataclass
class PerSample:
    """A value of each sample (N,...), on the device; indexed by rows from the CPU."""

    values: Tensor

    def __getitem__(self, rows: Array | Tensor) -> Tensor:
        return self.values[to_device(rows, self.values.device)]


@dataclass
class Stage1Outputs:
    """Outputs of a stage-1 model: its logits of the training samples (N,C), the weights of its head (C,D), and its
    ``bias`` (C,), if it has one.

    Of a foundation model: cosines, and the embeddings of the class prompts; ``group_prompts`` (C,A,D), those of
    prompts that name the attribute too, or None; ``length``, the root mean square length of its embeddings before
    they are scaled to 1."""

    logits: Array
    head: Array
    group_prompts: Array | None = None
    length: float = 1.0
    bias: Array | None = None


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
        """Raises ValueError for values that are not of these samples."""
        logits = self.stage1_outputs.logits if self.stage1_outputs else None
        per_sample = {"y": self.y, "inferred_attribute": self.inferred_attribute, "originals": self.originals}
        for name, values in {**per_sample, "stage1_outputs": logits, "label_rank": self.label_rank}.items():
            if values is not None and len(values) != len(self.batcher):
                raise ValueError(f"{name} of {len(values)} samples, but {len(self.batcher)} train")
        self.labels = self.per_sample(self.y)

    @property
    def inferred(self) -> Array:
        """The inferred attribute, for a method that always reads one."""
        assert self.inferred_attribute is not None
        return self.inferred_attribute

    def per_sample(self, values: Array) -> PerSample:
        """Values of all samples, on the device."""
        return PerSample(torch.from_numpy(np.array(values)).to(self.device))

    def __len__(self) -> int:
        return len(self.y)


def head_of(networks: nn.ModuleDict) -> nn.Module | None:
    """The network from representations to logits. None for a self-supervised method."""
    return networks["head"] if "head" in networks else None  # noqa: SIM401 (a ModuleDict has no get)


@torch.no_grad()
def represent(encoder: nn.Module, batcher: InputBatcher, rng: np.random.Generator) -> list[Tensor]:
    """Representations (B,D) of all samples in evaluation mode, batch by batch."""
    encoder.eval()
    return [apply_network(encoder, x) for x in batcher.batches(batcher.max_batch, rng)]


@torch.no_grad()
def predict(head: nn.Module, z: list[Tensor]) -> Array:
    """Logits (N,C), float32, on the CPU, of representations, batch by batch."""
    return torch.cat([head(rows) for rows in z]).float().cpu().numpy()


def encode(
    encoder: nn.Module, head: nn.Module | None, batcher: InputBatcher, rng: np.random.Generator
) -> dict[str, Array]:
    """Representations ``z``, float16, and (with a head) ``logits``, float32, of all samples; arrays on the CPU.

    In float16 the logits of two classes are often equal, and the lower class would be predicted."""
    z = represent(encoder, batcher, rng)
    outputs: dict[str, Array] = {"z": torch.cat(z).half().cpu().numpy()}
    return outputs if head is None else outputs | {"logits": predict(head, z)}
