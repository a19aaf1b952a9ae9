"""MoCo (He et al. 2020): negatives are a queue of embeddings of earlier samples, made by a slowly moving network."""

import torch
from torch import Tensor
from torch.nn.functional import normalize

from despur.losses.infonce import cosine, precise, tell_apart
from despur.methods.families.pairs import WithQueue
from despur.specs.selfsupervised_hyperparameters import siamese, target
from despur.specs.settings import float_, int_

SETTINGS = {
    **siamese(),
    **target(0.999, "Sec. 3.2 of He et al."),
    "queue": int_(4096, "Table 2 of Qiang et al. 2022: negatives", at_least=1),
    "temperature": float_(0.07, "Sec. 3.3 of He et al.", above=0),
}


class MoCo(WithQueue):
    """Eq. 1 of He et al. Both views are queries, as in Eq. 1 of Qiang et al. Batch norm is not shuffled between
    devices."""

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        tau = self.settings["temperature"]
        with torch.autocast(z.device.type, enabled=False):
            query = normalize(precise(p), dim=-1)
            return tell_apart(cosine(z, p) / tau, query @ self.queue.T.to(query.dtype) / tau)
