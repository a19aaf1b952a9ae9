"""SwAV (Caron et al. 2020): predict from one view the assignment of the other view to prototypes. Assignments divide
the samples evenly between the prototypes."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from despur.losses.infonce import precise
from despur.losses.relations import cross_entropies
from despur.losses.sinkhorn import sinkhorn_codes
from despur.methods.families.pairs import Pairs
from despur.specs.selfsupervised_hyperparameters import siamese
from despur.specs.settings import float_, int_

SETTINGS = {
    **siamese(),
    "prototypes": int_(3000, "App. A.1 of Caron et al.: ImageNet", at_least=2),
    "temperature": float_(0.1, "App. A.1 of Caron et al.", above=0),
    "epsilon": float_(0.05, "App. A.1 of Caron et al.: entropy of assignments", above=0),
    "iterations": int_(3, "App. A.1 of Caron et al.: of Sinkhorn", at_least=1),
    "frozen_epochs": int_(1, "App. A.1 of Caron et al.: first epochs in which the prototypes stay", at_least=0),
}


class SwAV(Pairs):
    """Eq. 1 and 2 of Caron et al. with two views: the anchor's code, predicted from its positive. Deviation: no
    small crops, no queue."""

    def setup(self) -> None:
        super().setup()
        self.networks["prototypes"] = nn.Linear(self.embedding_dim, self.settings["prototypes"], bias=False).to(
            self.task.device
        )
        self.normalize_prototypes()

    @torch.no_grad()
    def normalize_prototypes(self) -> None:
        """Scale the prototypes to length 1."""
        weight = self.networks["prototypes"].weight
        weight.copy_(normalize(weight))  # type: ignore[operator, arg-type]

    def scores(self, z: Tensor) -> Tensor:
        """Similarity (...,B,K) of embeddings and prototypes."""
        with torch.autocast(z.device.type, enabled=False):
            return self.networks["prototypes"](normalize(precise(z), dim=-1))

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        s = self.settings
        codes = torch.cat(
            [sinkhorn_codes(view, s["epsilon"], s["iterations"]) for view in self.scores(z).detach().chunk(2)]
        )
        return cross_entropies(codes, self.scores(p) / s["temperature"])

    def optimizer_step(self) -> None:
        if self.epoch < self.settings["frozen_epochs"]:
            self.networks["prototypes"].weight.grad = None
        super().optimizer_step()
        self.normalize_prototypes()
