"""SimCLR (Chen et al. 2020); Standard CL of Lewis et al. 2023 (Eq. 2), without a projector.

With augment.color_jitter it is their oracle: augmentations that hide the domain."""

from torch import Tensor

from despur.losses.infonce import cosine, negatives, tell_apart
from despur.methods.families.pairs import Pairs
from despur.specs.selfsupervised_hyperparameters import contrast, two_views

SETTINGS = {
    **two_views(epochs=400, batch_size=256, source="App. D; the batch size is not stated"),
    **contrast(0.1, "App. D: swept over .05 to 1; the selected value is not stated"),
}


class SimCLR(Pairs):
    """Each view is to identify the other view of its sample among the negatives."""

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        tau = self.settings["temperature"]
        return tell_apart(cosine(z, p) / tau, negatives(z, self.settings["negatives"], tau))
