"""RWY (Idrissi et al. 2021): ERM in which every class is drawn equally often."""

from collections.abc import Iterator

import numpy as np

from despur.methods.base import GradientMethod
from despur.methods.families.domain_batches import number_groups
from despur.samplers.domains import balanced
from despur.specs.hyperparameters import as_erm
from despur.storage.store import Array

SETTINGS = {**as_erm("Idrissi et al. tune all; here as ERM")}


class RWY(GradientMethod):
    """Sampling weights of one over the size of a class (or group), as in their code; the loss has no weights."""

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        yield from balanced(rng, number_groups(self.task), self.settings["batch_size"])
