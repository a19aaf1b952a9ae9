"""Domain-adversarial training (Ganin et al. 2016) on inferred domains (App. A.2 of Zhang et al. 2022).

All training samples have labels. The encoder learns to prevent a domain classifier on its representations."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import nn

from despur.losses.adversarial import ramp, reverse_gradient
from despur.methods.base import GradientMethod, Losses
from despur.samplers.domains import balanced, domains
from despur.specs.hyperparameters import sgd
from despur.specs.settings import choice, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **sgd(
        learning_rate=1e-3,
        momentum=0.9,
        weight_decay=5e-4,
        batch_size=32,
        epochs=100,
        source="App. E.2.5: as JTT; A.2 states none",
    ),
    "groups": component("inference", "predictions", "App. A.2: the stage-1 model's predicted class"),
    "domain": choice(
        "attribute", "App. A.2: the stage-1 prediction; majority: whether it is right", "attribute", "majority"
    ),
    "weight": float_(1.0, "Ganin et al.: strength of the reversed gradient at the end of training", at_least=0),
    "ramp": float_(
        10.0, "Ganin et al.: gamma; strength 2 / (1 + exp(-gamma p)) - 1 after a share p of training", above=0
    ),
    "hidden": int_(100, "Ganin et al., MNIST: hidden units of the domain classifier; 0: linear", at_least=0),
    "sampler": choice(
        "shuffled", "not stated; Ganin et al.: balanced, half a batch from each domain", "shuffled", "balanced"
    ),
}


class DANN(GradientMethod):
    """Cross-entropy of classes plus cross-entropy of domains. The gradient of the latter is reversed before it
    reaches the encoder."""

    def setup(self) -> None:
        assert self.task.inferred_attribute is not None
        s = self.settings
        self.rows = domains(self.task.y, self.task.inferred_attribute, s["domain"])
        self.domain = self.task.per_sample(self.rows)
        sizes = [self.dim, *filter(None, [s["hidden"]]), int(self.rows.max()) + 1]
        layers = [layer for pair in itertools.pairwise(sizes) for layer in (nn.Linear(*pair), nn.ReLU())]
        self.networks["domain"] = nn.Sequential(*layers[:-1]).to(self.task.device)

    def metadata(self) -> dict[str, Any]:
        return {"domain_sizes": np.bincount(self.rows).tolist()}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        even = self.settings["sampler"] == "balanced"
        return balanced(rng, self.rows, self.settings["batch_size"]) if even else super().epoch_batches(rng)

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
        return {"loss": cross + domain, "cross_entropy": cross.detach(), "domain": domain.detach()}
