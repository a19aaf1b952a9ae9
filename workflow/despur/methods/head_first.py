"""Fine-tuning in two phases (Shen et al. 2021, Experiment 4, after Wang et al. 2019): first a new last layer on a
fixed pretrained encoder, then both together."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.optimizers import choose_fused
from despur.compute.transfer import to_device
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import adam
from despur.specs.settings import component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **adam(learning_rate=1e-5, weight_decay=0.0, batch_size=64, epochs=60, source="Experiment 4: second phase"),
    "encoder": component("encoders", "resnet50", "Experiment 4"),
    "head_learning_rate": float_(1e-4, "Experiment 4: first phase", above=0),
    "head_batch_size": int_(128, "Experiment 4: first phase", at_least=1),
    "head_epochs": int_(
        60,
        "Experiment 4: first phase, at most 60; here exactly so many, because no method reads validation data",
        at_least=0,
    ),
}


class HeadFirst(GradientMethod):
    """Cross-entropy in both phases. The first phase is one step before all others: its encoder is fixed, so each
    sample is encoded once."""

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The mini-batches of the second phase. Before them, an empty batch stands for the first phase."""
        if self.epochs_done == 0 and self.settings["head_epochs"]:
            yield np.empty(0, int)
        yield from super().epoch_batches(rng)

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        return super().step(batch, rng) if len(batch) else {"loss": self.fit_head(rng)}

    def fit_head(self, rng: np.random.Generator) -> Tensor:
        """The first phase, by Adam. Returns the mean loss of its last epoch."""
        s, head, mean = self.settings, self.networks["head"], torch.zeros(())
        z, parameters = self.encode_all(rng), list(head.parameters())
        optimizer = torch.optim.Adam(parameters, s["head_learning_rate"], fused=choose_fused(parameters))
        for _ in range(s["head_epochs"]):
            losses = []
            for rows in to_device(rng.permutation(len(z)), z.device).split(s["head_batch_size"]):
                loss = nn.functional.cross_entropy(head(z[rows]).float(), self.task.labels[rows])
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                optimizer.step()
                losses.append(loss.detach() * len(rows))
            mean = torch.stack(losses).sum() / len(z)
        return mean

    def count_images(self, batch: Array) -> int:
        return len(batch) or len(self.task)
