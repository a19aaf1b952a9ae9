"""ERM with a maximum mean discrepancy between inferred domains (Li et al. 2018, discussed in App. A.2 and D.4 of
Zhang et al. 2022).

The discrepancy is that of representations, as in their MMD-AAE, but without its autoencoder and adversary."""

import numpy as np
from torch import Tensor, nn

from despur.losses.discrepancy import mmd
from despur.methods.base import Losses
from despur.methods.families.domain_batches import DomainMethod
from despur.specs.hyperparameters import as_erm, inferred_domains
from despur.specs.settings import choice, float_, int_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5: as JTT; A.2 does not run it"),
    **inferred_domains(),
    "weight": float_(
        1.0,
        "of the discrepancy, beside cross-entropy: to be tuned",
        at_least=0,
        search=log_uniform(0.1, 10, "SubpopBench, of a sum of kernels with fixed bandwidths"),
    ),
    "kernels": int_(5, "RBF kernels, bandwidths at powers of two around the median distance", at_least=1),
    "sampler": choice("shuffled", "as dann; balanced: each domain equally often", "shuffled", "balanced"),
}


class MMD(DomainMethod):
    """Cross-entropy plus ``weight`` times the mean squared discrepancy between pairs of domains in a mini-batch."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.encode(batch, rng)
        cross = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[batch])
        discrepancy = self.discrepancy(z, self.domain[batch])
        loss = cross + self.settings["weight"] * discrepancy
        return {"loss": loss, "cross_entropy": cross, self.spec.base_name: discrepancy}

    def discrepancy(self, z: Tensor, domain: Tensor) -> Tensor:
        """Between the representations ``z`` (B,D) of the domains ``domain`` (B,)."""
        return mmd(z, domain, self.num_domains, self.settings["kernels"])
