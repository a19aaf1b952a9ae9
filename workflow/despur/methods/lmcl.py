"""LMCL (Chen et al. 2021, Large-margin contrastive learning with distance polarization regularizer): SimCLR with
distances that become either small or large, so that near negatives are no longer pushed away."""

from torch import Tensor

from despur.losses.polarization import distance_polarization
from despur.methods.simclr import SimCLR
from despur.specs.selfsupervised_hyperparameters import contrast, siamese
from despur.specs.settings import SettingError, float_

SETTINGS = {
    **siamese(),
    **contrast(0.5, "Sec. 6.2 of Qiang et al. 2022, SimCLR", negatives="both_views"),
    "near": float_(
        0.1, "delta+: not stated by Qiang et al.; our choice: distances lie in [0, 1]", at_least=0, at_most=1
    ),
    "far": float_(0.9, "delta-: not stated by Qiang et al.; our choice", at_least=0, at_most=1),
    "polarization": float_(1.0, "weight: not stated by Qiang et al.; our choice", at_least=0),
}


class LMCL(SimCLR):
    """InfoNCE and the distance polarization regularizer. Raises SettingError unless ``near`` is below ``far``."""

    def setup(self) -> None:
        super().setup()
        if self.settings["near"] >= self.settings["far"]:
            raise SettingError(f"lmcl: near={self.settings['near']} must be below far={self.settings['far']}")

    def contrast(self, z: Tensor, p: Tensor) -> Tensor:
        s = self.settings
        return super().contrast(z, p) + s["polarization"] * distance_polarization(z, s["near"], s["far"])
