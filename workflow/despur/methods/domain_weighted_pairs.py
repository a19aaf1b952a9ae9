"""Domain-Weighted Pairs (Lewis et al. 2023, Sec. 2): the temperature is lower for pairs that are probably of one
domain."""

from torch import Tensor

from despur.methods.families.domain_weighted import DomainWeighted
from despur.specs.selfsupervised_hyperparameters import two_views
from despur.specs.settings import choice, component, float_

SETTINGS = {
    **two_views(epochs=400, batch_size=256, source="App. D; the batch size is not stated"),
    "groups": component("inference", "oracle", "Sec. 2: the domains of training samples are known"),
    "tau_alpha": float_(0.175, "Tables 3-8: selected at sigma = 50; App. D: swept over .05 to 1", above=0),
    "tau_beta": float_(1.0, "Tables 3-8: selected at sigma = 50; App. D: swept over .1, .25, .5, 1", at_least=0),
    "tau_min": float_(0.05, "Eq. 3; not stated: the lowest temperature of App. D's grids", above=0),
    "negatives": choice("other_view", "Eq. 4; both_views: Chen et al. 2020", "other_view", "both_views"),
    "discriminator": choice(
        "global", "App. C: refitted each epoch on all samples; batch: on each batch", "global", "batch"
    ),
    "fit_on": choice(
        "images",
        "of the global one; not stated: images without augmentation, in evaluation mode; views: z of Sec. 2, of "
        "augmented images, in training mode",
        "images",
        "views",
    ),
    "penalty": float_(1e-3, "of the discriminator's squared weights on standardized embeddings; not stated", above=0),
}


class DomainWeightedPairs(DomainWeighted):
    """Neither domain is known: w_ij = sum_d P(D_i = d | z_i) P(D_j = d | z_j)."""

    @staticmethod
    def weights(p: Tensor, domain: Tensor) -> Tensor:
        return p @ p.T
