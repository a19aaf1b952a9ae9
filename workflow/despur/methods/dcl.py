"""DCL (Chuang et al. 2020, Debiased contrastive learning): the sum over negatives is corrected for those of the
anchor's class."""

from torch import Tensor

from despur.losses.debiased import debiased_contrast
from despur.losses.infonce import cosine, negatives
from despur.methods.families.pairs import Pairs
from despur.specs.selfsupervised_hyperparameters import contrast, siamese
from despur.specs.settings import float_

SETTINGS = {
    **siamese(),
    **contrast(0.5, "Sec. 5.1 of Chuang et al.; as SimCLR", negatives="both_views"),
    "class_prior": float_(0.1, "Sec. 5.1 of Chuang et al., CIFAR-10: tau+; .01 on ImageNet-100", at_least=0, below=1),
}


class DCL(Pairs):
    """Eq. 8 of Chuang et al."""

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        s, tau = self.settings, self.settings["temperature"]
        return debiased_contrast(cosine(z, p) / tau, negatives(z, s["negatives"], tau), s["class_prior"], tau)
