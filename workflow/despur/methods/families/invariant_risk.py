"""What IRM and the second model of EIIL share: IRMv1 (Arjovsky et al. 2019), as Creager et al. 2021 train it. Not in
irm.py: its REVISION would be EIIL's, too."""

import numpy as np
import torch

from despur.losses.invariance import annealed, irm
from despur.methods.base import Losses
from despur.methods.families.domain_batches import DomainMethod
from despur.storage.store import Array


class InvariantRisk(DomainMethod):
    """Mean cross-entropy of the environments, the weighted mean of their penalties, and weight decay x squared weights;
    divided by the penalty's weight where that is above 1 (released code of Creager et al. 2021)."""

    @property
    def weight(self) -> float:
        """The weight of the penalty in this epoch."""
        s = self.settings
        return annealed(s["penalty_weight"], s["annealing"], self.epochs_done, s["epochs"])

    def build_optimizer(self) -> torch.optim.Optimizer:
        """Weight decay is in the loss, not in the optimizer."""
        optimizer = super().build_optimizer()
        for group in optimizer.param_groups:
            group["weight_decay"] = 0.0
        return optimizer

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits, labels, s = self.forward(batch, rng).float(), self.task.labels[batch], self.settings
        losses = irm(logits, labels, self.domain[batch], self.num_domains, self.weight, s["penalty"])
        squares = torch.stack([parameter.square().sum() for parameter in self.networks.parameters()]).sum()
        return losses | {"loss": losses["loss"] + s["weight_decay"] * squares / max(self.weight, 1.0)}
