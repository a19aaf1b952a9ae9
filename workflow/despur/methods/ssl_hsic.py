"""SSL-HSIC (Li et al. 2021): embeddings depend on the identity of the sample, as measured by kernels, and on little
else."""

from torch import Tensor

from despur.losses.hsic import dependence_on_identity, hsic, inverse_multiquadric
from despur.methods.byol import BYOL
from despur.specs.selfsupervised_hyperparameters import siamese, target
from despur.specs.settings import float_

SETTINGS = {
    **siamese(),
    **target(0.99, "Sec. 4 of Li et al.: the target network of BYOL", increase="cosine"),
    "gamma": float_(3.0, "Sec. 4 of Li et al.: weight of sqrt HSIC(Z, Z)", at_least=0),
    "kernel": float_(1.0, "inverse multiquadric; its width c: not stated by Qiang et al.", above=0),
}


class SSLHSIC(BYOL):
    """-HSIC(Z, Y) + gamma sqrt HSIC(Z, Z) (Eq. 4 of Li et al.), Z by BYOL's networks. Deviation: kernels are exact;
    theirs use random features."""

    def contrast(self, z: Tensor, p: Tensor) -> Tensor:
        s, p = self.settings, self.opposite(p)  # a view's prediction in its own row
        dependence = dependence_on_identity(inverse_multiquadric(z, p, s["kernel"]))
        similarity = inverse_multiquadric(p, p, s["kernel"])
        return -dependence + s["gamma"] * hsic(similarity, similarity).clamp(min=1e-12).sqrt()
