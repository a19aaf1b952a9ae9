"""W-MSE (Ermolov et al. 2021): embeddings of two views agree after whitening, which prevents them from being all the
same."""

import numpy as np
import torch

from despur.compute.transfer import to_device
from despur.losses.infonce import cosine
from despur.losses.whitening import whiten
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import SelfSupervised
from despur.specs.selfsupervised_hyperparameters import siamese
from despur.specs.settings import SettingError, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **siamese(),
    "slice": int_(
        128,
        "Sec. 4 of Ermolov et al.: samples that are whitened together; more than the embedding has dimensions",
        at_least=2,
    ),
    "slicings": int_(
        1, "Sec. 4 of Ermolov et al.: random divisions into slices a step; 4 on STL-10 and Tiny ImageNet", at_least=1
    ),
    "epsilon": float_(0.0, "released code: share of the identity in the covariance", at_least=0, below=1),
}


class WMSE(SelfSupervised):
    """2 - 2 cos of whitened embeddings (Eq. 5 and 6 of Ermolov et al.). Samples beyond whole slices are left out of
    a slicing."""

    def setup(self) -> None:
        super().setup()
        self.size = min(self.settings["slice"], self.batch_size)
        if self.size <= self.embedding_dim:
            raise SettingError(
                f"wmse: slice={self.size} of a batch must be more than the {self.embedding_dim} numbers of an embedding"
            )

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        views = self.two_views(batch, rng).chunk(2)
        total = []
        for _ in range(self.settings["slicings"]):
            order = to_device(rng.permutation(len(batch)), self.task.device)
            for rows in order[: len(batch) // self.size * self.size].split(self.size):
                first, second = (whiten(z[rows], self.settings["epsilon"]) for z in views)
                total.append((2 - 2 * cosine(first, second)).mean())
        return {"loss": torch.stack(total).mean()}
