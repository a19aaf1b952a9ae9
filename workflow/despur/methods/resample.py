"""Resampling, RWG of Idrissi et al. 2021: ERM in which every class-attribute group is drawn equally often.

``ReSample`` in SubpopBench (Yang et al. 2023). With classes instead of groups it is ``rwy``."""

from collections.abc import Iterator

import numpy as np

from despur.methods.base import GradientMethod
from despur.methods.families.balanced import number_groups
from despur.samplers.domains import balanced
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import component
from despur.storage.store import Array

SETTINGS = {
    **as_erm("Idrissi et al. tune all; here as RWY", weight_decay=1e-3),
    "groups": component("inference", "oracle", "Idrissi et al., Sec. 2: known groups"),
}


class ReSample(GradientMethod):
    """Sampling weights of one over the size of a group; the loss has no weights."""

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        yield from balanced(rng, number_groups(self.task), self.settings["batch_size"])
