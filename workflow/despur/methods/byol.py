"""BYOL (Grill et al. 2020): a predictor predicts the target network's embedding of the other view."""

import torch
from torch import Tensor

from despur.losses.infonce import cosine
from despur.methods.families.pairs import WithTarget, rowwise
from despur.methods.families.selfsupervised import projector
from despur.specs.selfsupervised_hyperparameters import siamese, target

SETTINGS = {**siamese(), **target(0.99, "Sec. 6.2 of Qiang et al. 2022; W-MSE", increase="cosine")}


class BYOL(WithTarget):
    """2 - 2 cos of prediction and target (Eq. 2 of Grill et al.). Each view is predicted once and is the target
    once. The predictor has the projector's architecture."""

    def setup(self) -> None:
        super().setup()
        dim = self.embedding_dim
        self.networks["predictor"] = projector("mlp_bn", dim, dim, self.settings["projector_width"]).to(
            self.task.device
        )

    def positive(self, h: Tensor) -> Tensor:
        return rowwise(self.networks["predictor"], super().positive(h))

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        with torch.autocast(z.device.type, enabled=False):
            return 2 - 2 * cosine(z, p)
