"""Contrastive learning with DANN (a baseline in Sec. 3 of Lewis et al. 2023, after Ganin et al. 2016)."""

import numpy as np
from torch import nn

from despur.losses.adversarial import ramp, reverse_gradient
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import WithDomains
from despur.specs.declarations import read_declarations
from despur.specs.settings import float_
from despur.storage.store import Array

SETTINGS = {
    **read_declarations("methods", "same_domain_negatives")["SETTINGS"],
    "weight": float_(1.0, "App. D: lambda, swept over .01, .1, 1, 5; strength of the reversed gradient", at_least=0),
    "ramp": float_(
        0.0,
        "no schedule is stated: constant. Ganin et al.: 10, strength 2 / (1 + exp(-10 p)) - 1 after a share p",
        at_least=0,
    ),
}


class CLDANN(WithDomains):
    """Eq. 2 plus the cross-entropy of a linear domain classifier (App. D). Its gradient is reversed before it
    reaches the encoder."""

    def setup(self) -> None:
        super().setup()
        self.networks["domain"] = nn.Linear(self.embedding_dim, self.num_domains).to(self.task.device)

    def strength(self) -> float:
        """The strength of the reversed gradient at this step."""
        s = self.settings
        done = self.steps_done / (s["epochs"] * self.steps_per_epoch)
        return float(s["weight"] * ramp(done, s["ramp"]))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.two_views(batch, rng)
        agreement = self.info_nce(z)
        logits = self.networks["domain"](reverse_gradient(z, self.strength())).float()
        domain = nn.functional.cross_entropy(logits, self.domains_of(batch))
        return {"loss": agreement + domain, "info_nce": agreement, "domain": domain}
