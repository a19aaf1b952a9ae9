"""Same-Domain Negatives (Cheng et al. 2020; a baseline in Sec. 3 of Lewis et al. 2023): negatives only from the
anchor's domain."""

import numpy as np

from despur.losses.infonce import candidates, two_view_contrast
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import WithDomains
from despur.specs.declarations import read_declarations
from despur.specs.settings import component
from despur.storage.store import Array

SETTINGS = {
    **read_declarations("methods", "simclr")["SETTINGS"],
    "groups": component("inference", "oracle", "Sec. 2: the domains of training samples are known"),
}


class SameDomainNegatives(WithDomains):
    """Eq. 2 with the sum over samples of the anchor's domain. The loss of an anchor without such samples is 0."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z, domain = self.two_views(batch, rng), self.domains_of(batch)
        allowed = candidates(len(batch), self.settings["negatives"], z.device) & (domain[:, None] == domain)
        return {"loss": two_view_contrast(z, allowed, self.settings["temperature"])}
