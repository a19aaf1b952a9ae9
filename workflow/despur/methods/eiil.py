"""Environment inference for invariant learning (Creager et al. 2021; Zhang et al. 2022, App. E.2.5): a second model,
by IRM or Group DRO, on the two environments that :mod:`despur.inference.eiil` finds in the outputs of the stage-1
model.

App. E.2.5 states for CelebA: second=gdro, 50 epochs, learning rate 1e-5, batch 128, weight decay 0.1, adjustment 3.
On CMNIST* it ran the authors' code, whose IRM is full-batch Adam (``irm_batches=full+optimizer=adam``): there an
epoch is one step, and the paper's 100 epochs train it little (workflow/papers/cnc/README.md). SGD is what App. E.2.6
states for all methods. With ``patience``, training can stop before annealing ends."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from despur.losses.invariance import annealed, irm
from despur.methods.base import Losses
from despur.methods.gdro import GroupDRO
from despur.specs.hyperparameters import sgd
from despur.specs.settings import choice, component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **sgd(
        learning_rate=1e-2,
        momentum=0.9,
        weight_decay=1e-3,
        batch_size=32,
        epochs=100,
        source="App. E.2.5 (CMNIST*); batch: as JTT",
    ),
    "groups": component("inference", "eiil", "App. E.2.5: environments from the outputs of CNC's stage-1 model"),
    "second": choice("irm", "App. E.2.5: IRM on CMNIST*, GDRO elsewhere", "irm", "gdro"),
    "penalty_weight": float_(100.0, "IRM: App. E.2.5", at_least=0),
    "penalty": choice(
        "square",
        "IRM: square of a mini-batch's slope: released code of Creager et al. 2021, on all samples; halves: product of "
        "the slopes of its two halves, which is unbiased (Arjovsky et al. 2019, Sec. 3.2)",
        "square",
        "halves",
    ),
    "annealing": int_(
        80,
        "IRM: App. E.2.5: percent of the epochs (the paper has 100), in which the penalty weighs 1",
        at_least=0,
        at_most=100,
    ),
    "irm_batches": choice("mini", "IRM: App. E.2.6: as JTT; full: all samples at once, released code", "mini", "full"),
    "step_size": float_(0.01, "GDRO: as gdro", above=0),
    "adjustment": float_(0.0, "GDRO: Table A.9 sweeps it on CelebA", at_least=0),
    "sampler": choice(
        "balanced", "GDRO: as gdro; mini-batches of IRM: half from each environment", "balanced", "shuffled"
    ),
}


class EIIL(GroupDRO):
    """With second=irm, IRMv1 + weight decay x squared weights, divided by the penalty's weight where that is above 1
    (released code). With second=gdro, Group DRO; groups are (class, environment)."""

    def setup(self) -> None:
        super().setup()
        assert self.task.inferred_attribute is not None
        self.sizes = np.bincount(self.task.inferred_attribute, minlength=2)
        self.environment = self.task.per_sample(self.task.inferred_attribute)
        self.irm = self.settings["second"] == "irm"
        if self.irm:  # samples are balanced by environment, not by group
            self.chances = 1 / self.sizes[self.task.inferred_attribute] / np.count_nonzero(self.sizes)

    def build_optimizer(self) -> torch.optim.Optimizer:
        """With IRM, weight decay is in the loss, not in the optimizer."""
        optimizer = super().build_optimizer()
        for group in optimizer.param_groups if self.irm else []:
            group["weight_decay"] = 0.0
        return optimizer

    def metadata(self) -> dict[str, Any]:
        return {"environment_sizes": self.sizes.tolist()}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """IRM with full batches: all samples at once."""
        if self.irm and self.settings["irm_batches"] == "full":
            yield np.arange(len(self.task))
        else:
            yield from super().epoch_batches(rng)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        return self.irm_losses(batch, rng) if self.irm else super().losses(batch, rng)

    def irm_losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """IRMv1 (Arjovsky et al. 2019) over the environments in the batch, and weight decay."""
        s = self.settings
        weight = annealed(s["penalty_weight"], s["annealing"], self.epochs_done, s["epochs"])
        logits = self.forward(batch, rng).float()
        found = irm(logits, self.task.labels[batch], self.environment[batch], 2, weight, s["penalty"])
        squares = torch.stack([parameter.square().sum() for parameter in self.networks.parameters()]).sum()
        return found | {"loss": found["loss"] + s["weight_decay"] * squares / max(weight, 1.0)}
