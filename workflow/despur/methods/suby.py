"""SUBY (Idrissi et al. 2021): ERM on a random subset in which every class is as large as the smallest one.

Deviation: an epoch has as many steps as one of all training samples, as in SubpopBench. (Theirs shows each sample of
the subset once: with equal epochs, a small subset is trained by few steps.)"""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from despur.methods.base import GradientMethod
from despur.methods.dfr import equal_groups
from despur.methods.families.domain_batches import number_groups
from despur.specs.hyperparameters import as_erm
from despur.storage.store import Array

REVISION = 2
SETTINGS = {**as_erm("Idrissi et al. tune all; here as ERM")}


class SUBY(GradientMethod):
    """The subset is drawn once, at the start. Each of its samples is shown once before any is shown again."""

    def setup(self) -> None:
        self.group = number_groups(self.task)
        sizes = np.bincount(self.group)
        self.networks.register_buffer("subset", torch.zeros(len(sizes) * int(sizes.min()), dtype=torch.long))

    def metadata(self) -> dict[str, Any]:
        return {"samples_in_subset": len(self.networks.get_buffer("subset"))}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        subset = self.networks.get_buffer("subset")
        if self.epochs_done == 0:
            subset.copy_(torch.from_numpy(equal_groups(self.group, rng)))
        rounds = math.ceil(len(self.task) / len(subset))
        order = np.concatenate([rng.permutation(subset.cpu().numpy()) for _ in range(rounds)])[: len(self.task)]
        yield from self.mini_batches(order)
