"""ReLIC (Mitrovic et al. 2021): a contrastive loss, plus a penalty if the probabilities of the other samples depend
on the view."""

from torch import Tensor

from despur.losses.infonce import similarities
from despur.losses.relations import divergence
from despur.methods.simclr import SimCLR
from despur.specs.selfsupervised_hyperparameters import contrast, siamese
from despur.specs.settings import float_

SETTINGS = {
    **siamese(),
    **contrast(0.5, "not stated; as SimCLR in Sec. 6.2 of Qiang et al. 2022"),
    "invariance": float_(
        1.0, "alpha of Mitrovic et al.: weight of the divergence; not stated by Qiang et al.", at_least=0
    ),
}


class RELIC(SimCLR):
    """Eq. 3 of Mitrovic et al., with one network for both views, as in SimCLR, and the divergence in both
    directions."""

    def contrast(self, z: Tensor, p: Tensor) -> Tensor:
        count = len(z) // 2
        scores = similarities(z)[:count, count:] / self.settings["temperature"]  # of first views with second ones
        invariance = (divergence(scores, scores.T) + divergence(scores.T, scores)) / 2
        return super().contrast(z, p) + self.settings["invariance"] * invariance
