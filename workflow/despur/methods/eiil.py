"""Environment inference for invariant learning (Creager et al. 2021; Zhang et al. 2022, App. E.2.5): a second model, by IRM or Group DRO,
on the two environments that :mod:`despur.inference.eiil` finds in the outputs of the stage-1 model.

App. E.2.5 states for CelebA: second=gdro, 50 epochs, learning rate 1e-5, batch 128, weight decay 0.1, adjustment 3. On CMNIST* it ran the
authors' code, whose IRM is full-batch Adam: there an epoch is one step. Stopping early (patience) can end it before annealing does.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import nn

from despur.losses.groups import group_means
from despur.losses.invariance import scale_gradient
from despur.methods.base import Losses, fused
from despur.methods.gdro import GroupDRO
from despur.settings import choice, part, real, sgd, whole
from despur.store import Array

SETTINGS = {
    **sgd(learning_rate=1e-2, momentum=0.9, weight_decay=1e-3, batch_size=32, epochs=100, source="App. E.2.5 (CMNIST*); batch: as JTT"),
    "groups": part("inference", "eiil", "App. E.2.5: environments from the outputs of CNC's stage-1 model"),
    "second": choice("irm", "App. E.2.5: IRM on CMNIST*, GDRO elsewhere", "irm", "gdro"),
    "penalty_weight": real(100.0, "IRM: App. E.2.5", at_least=0),
    "annealing": whole(80, "IRM: App. E.2.5: so many steps in which the penalty weighs 1 come first", at_least=0),
    "irm_batches": choice("full", "IRM: released code; mini: by batch_size and sampler", "full", "mini"),
    "irm_optimizer": choice("adam", "IRM: released code; App. E.2.6 says sgd, as JTT", "adam", "sgd"),
    "step_size": real(0.01, "GDRO: as gdro", above=0),
    "adjustment": real(0.0, "GDRO: Table A.9 sweeps it on CelebA", at_least=0),
    "sampler": choice("balanced", "GDRO: as gdro; mini-batches of IRM: half from each environment", "balanced", "shuffled"),
}


class EIIL(GroupDRO):
    """IRM: mean cross-entropy of the environments + weight x their mean penalty + weight decay x squared weights, all divided by the
    weight where it is above 1 (released code). A mini-batch's penalty is biased upwards by the variance of its slope.

    GDRO: groups are (class, environment).
    """

    def setup(self) -> None:
        super().setup()
        assert self.task.groups is not None
        self.sizes = np.bincount(self.task.groups, minlength=2)
        self.environment = torch.from_numpy(self.task.groups).to(self.task.device)
        self.steps, self.irm = 0, self.settings["second"] == "irm"
        if self.irm:  # what is balanced are environments, not groups
            self.chances = 1 / self.sizes[self.task.groups] / np.count_nonzero(self.sizes)

    def build_optimizer(self) -> torch.optim.Optimizer:
        """Of IRM, weight decay is in the loss."""
        if not self.irm:
            return super().build_optimizer()
        s, parameters = self.settings, list(self.networks.parameters())
        if s["irm_optimizer"] == "sgd":
            return torch.optim.SGD(parameters, s["learning_rate"], momentum=s["momentum"], fused=fused(parameters))
        return torch.optim.Adam(parameters, s["learning_rate"], fused=fused(parameters))

    def facts(self) -> dict[str, Any]:
        return {"environment_sizes": self.sizes.tolist()}

    def epoch(self, rng: np.random.Generator) -> Iterator[Array]:
        """IRM: all samples at once."""
        if self.irm and self.settings["irm_batches"] == "full":
            yield np.arange(len(self.task))
        else:
            yield from super().epoch(rng)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """IRMv1 (Arjovsky et al. 2019) over the environments in the batch; or Group DRO's."""
        if not self.irm:
            return super().losses(batch, rng)
        s, labels, environment = self.settings, self.task.labels[batch], self.environment[batch]
        weight = s["penalty_weight"] if self.steps >= s["annealing"] else 1.0
        logits = self.networks["head"](self.networks["encoder"](self.task.presentation.view(batch, rng))).float()
        cross = group_means(nn.functional.cross_entropy(logits, labels, reduction="none"), environment, 2).mean()
        penalty = group_means(scale_gradient(logits, labels), environment, 2).square().mean()
        squares = torch.stack([parameter.square().sum() for parameter in self.networks.parameters()]).sum()
        loss = (cross + weight * penalty + s["weight_decay"] * squares) / max(weight, 1.0)
        return {"loss": loss, "cross_entropy": cross.detach(), "penalty": penalty.detach()}

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        losses = super().step(batch, rng)
        self.steps += 1
        return losses

    def state(self) -> dict[str, Any]:
        return {**super().state(), "steps": self.steps}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        self.steps = state["steps"]
