"""Domain-adversarial training (Ganin et al. 2016) on inferred domains (App. A.2 of Zhang et al. 2022).

All training samples have labels. The encoder learns to prevent a domain classifier on its representations."""

import itertools
import math

import numpy as np
from torch import nn

from despur.losses.adversarial import ramp, reverse_gradient
from despur.methods.base import Losses
from despur.methods.families.domain_batches import DomainMethod
from despur.specs.hyperparameters import as_erm, inferred_domains
from despur.specs.settings import choice, float_, int_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5: as JTT; A.2 states none"),
    **inferred_domains(),
    "weight": float_(
        1.0,
        "Ganin et al.: strength of the reversed gradient at the end of training",
        at_least=0,
        search=log_uniform(0.01, 100, "DomainBed"),
    ),
    "ramp": float_(
        10.0, "Ganin et al.: gamma; strength 2 / (1 + exp(-gamma p)) - 1 after a share p of training", above=0
    ),
    "hidden": int_(100, "Ganin et al., MNIST: hidden units of the domain classifier; 0: linear", at_least=0),
    "sampler": choice(
        "shuffled", "not stated; Ganin et al.: balanced, half a batch from each domain", "shuffled", "balanced"
    ),
}


class DANN(DomainMethod):
    """Cross-entropy of classes plus cross-entropy of domains. The gradient of the latter is reversed before it
    reaches the encoder."""

    def setup(self) -> None:
        super().setup()
        s = self.settings
        sizes = [self.dim, *filter(None, [s["hidden"]]), self.num_domains]
        layers = [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.networks["domain"] = nn.Sequential(*layers[:-1]).to(self.task.device)

    def strength(self) -> float:
        """The strength of the reversed gradient at this step."""
        s = self.settings
        total = s["epochs"] * math.ceil(len(self.task) / s["batch_size"])
        return float(s["weight"] * ramp(self.steps_done / total, s["ramp"]))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z = self.encode(batch, rng)
        cross = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[batch])
        logits = self.networks["domain"](reverse_gradient(z, self.strength())).float()
        domain = nn.functional.cross_entropy(logits, self.domain[batch])
        return {"loss": cross + domain, "cross_entropy": cross, "domain": domain}
