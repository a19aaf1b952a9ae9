"""Barlow Twins (Zbontar et al. 2021): each dimension of the embedding agrees between views and does not correlate
with the others."""

import numpy as np

from despur.losses.correlation import redundancy
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import SelfSupervised
from despur.specs.selfsupervised_hyperparameters import siamese
from despur.specs.settings import float_
from despur.storage.store import Array

SETTINGS = {**siamese(), "redundancy": float_(5e-3, "Sec. 2.2 of Zbontar et al.: lambda", at_least=0)}


class BarlowTwins(SelfSupervised):
    """Eq. 1 of Zbontar et al."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        first, second = self.two_views(batch, rng).chunk(2)
        return {"loss": redundancy(first, second, self.settings["redundancy"])}
