"""Invariant risk minimization, IRMv1 (Arjovsky et al. 2019), as EIIL trains its second model (Creager et al. 2021;
App. E.2.5 of Zhang et al. 2022).

Environments are values of the attribute. With ``groups=oracle``, the default, the method reads the true attribute of
training samples."""

import numpy as np
import torch

from despur.losses.invariance import annealed, irm
from despur.methods.base import Losses
from despur.methods.families.domain_batches import DomainMethod
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, component, float_, log_uniform, uniform
from despur.storage.store import Array

REVISION = 2  # weight decay is divided with the loss
SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*); batch: as JTT", learning_rate=1e-2, weight_decay=1e-3),
    "groups": component("inference", "oracle", "EIIL infers them"),
    "penalty_weight": float_(
        100.0, "App. E.2.5: of IRM's penalty", at_least=0, search=log_uniform(0.1, 1e5, "SubpopBench")
    ),
    "penalty": choice(
        "square",
        "square of a mini-batch's slope: released code of Creager et al. 2021, on all samples; halves: product of the "
        "slopes of its two halves, which is unbiased (Arjovsky et al. 2019, Sec. 3.2)",
        "square",
        "halves",
    ),
    "annealing": float_(
        80,
        "App. E.2.5: 80; Table A.9: iterations. Read as epochs of the paper's 100: in so many percent of the training, "
        "the penalty weighs 1",
        at_least=0,
        at_most=100,
        search=uniform(0, 90, "ours; SubpopBench: log scale, from one step to beyond the last"),
    ),
    "sampler": choice(
        "shuffled", "mini-batches are not described; balanced: each environment equally often", "shuffled", "balanced"
    ),
}


class IRM(DomainMethod):
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
