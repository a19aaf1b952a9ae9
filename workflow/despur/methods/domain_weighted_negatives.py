"""Domain-Weighted Negatives (Lewis et al. 2023, Sec. 2): the temperature is lower for negatives that are probably of
the anchor's domain."""

from torch import Tensor

from despur.methods.families.domain_weighted import DomainWeighted
from despur.specs.declarations import read_declarations
from despur.specs.settings import float_

SETTINGS = {
    **read_declarations("methods", "domain_weighted_pairs")["SETTINGS"],
    "tau_alpha": float_(0.075, "Tables 3-8: selected at sigma = 50; App. D: swept over .05 to 1", above=0),
    "tau_beta": float_(0.5, "Tables 3-8: selected at sigma = 50; App. D: swept over .1, .25, .5, 1", at_least=0),
}


class DomainWeightedNegatives(DomainWeighted):
    """The anchor's domain is known, the negative's is not: w_ij = P(D_j = d_i | z_j)."""

    @staticmethod
    def weights(p: Tensor, domain: Tensor) -> Tensor:
        return p[:, domain].T
