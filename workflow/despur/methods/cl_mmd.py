"""Contrastive learning with an MMD penalty (a baseline in Sec. 3 of Lewis et al. 2023, after Li et al. 2018)."""

import numpy as np
import torch

from despur.losses.discrepancy import mmd
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import WithDomains
from despur.specs.declarations import read_declarations
from despur.specs.settings import float_, int_
from despur.storage.store import Array

SETTINGS = {
    **read_declarations("methods", "same_domain_negatives")["SETTINGS"],
    "weight": float_(1.0, "App. D: lambda, swept over .01, .1, 1, 5; the selected value is not stated", at_least=0),
    "kernels": int_(5, "not stated: RBF kernels, bandwidths at powers of two around the median distance", at_least=1),
}


class CLMMD(WithDomains):
    """Eq. 2 plus ``weight`` times the squared discrepancy between the domains' embeddings: the mean over first and
    second views, because two views of a sample are not independent draws."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.two_views(batch, rng)
        agreement = self.info_nce(z)
        domain = self.domain[batch]
        discrepancy = torch.stack(
            [mmd(view, domain, self.num_domains, self.settings["kernels"]) for view in z.chunk(2)]
        ).mean()
        loss = agreement + self.settings["weight"] * discrepancy
        return {"loss": loss, "info_nce": agreement, "mmd": discrepancy}
