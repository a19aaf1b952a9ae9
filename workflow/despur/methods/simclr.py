"""SimCLR (Chen et al. 2020); Standard CL of Lewis et al. 2023 (Eq. 2), without a projector.

With augment.color_jitter it is their oracle: it sees augmentations that hide the domain.
"""

import numpy as np

from despur.methods.base import Losses
from despur.selfsupervised import SelfSupervised
from despur.settings import contrast, two_views
from despur.store import Array

SETTINGS = {
    **two_views(epochs=400, batch_size=256, source="App. D; the batch size is not stated"),
    **contrast(0.1, "App. D: swept over .05 to 1; the selected value is not stated"),
}


class SimCLR(SelfSupervised):
    """Each view finds the other view of its sample among the negatives."""

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        return {"loss": self.info_nce(self.two_views(batch, rng))}
