"""Classifier retraining, cRT (Kang et al. 2020): a new linear head on the representations of a trained model, which are
not changed, with groups that count the same.

As in SubpopBench (Yang et al. 2023): class-attribute groups, where Kang et al. have classes."""

from collections.abc import Iterator

import numpy as np
from torch import nn

from despur.encoders.identity import Identity
from despur.methods.cb_loss import CBLoss
from despur.methods.families.domain_batches import number_groups
from despur.samplers.domains import balanced
from despur.specs.hyperparameters import as_erm, on_stage1
from despur.specs.settings import choice, component, without
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {
    **without(as_erm("Kang et al.: 10 epochs; the rest is tuned in SubpopBench, here as ERM", epochs=10), "encoder"),
    **on_stage1("erm", "last", "Kang et al., Sec. 4: trained without balance"),
    "groups": component("inference", "oracle", "SubpopBench: known groups"),
    "balance": choice(
        "sampling",
        "each group is drawn equally often (CRT in SubpopBench); weighting: weighs the same (ReWeightCRT); none "
        "(VanillaCRT)",
        *("sampling", "weighting", "none"),
    ),
}


class CRT(CBLoss):
    """Cross-entropy on balanced batches, or with weights of one over the size of a group, or plain."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Identity(dim), "head": nn.Linear(dim, num_classes)})

    def setup(self) -> None:
        self.group = number_groups(self.task)
        sizes = np.bincount(self.group)
        weights = 1 / sizes if self.settings["balance"] == "weighting" else np.ones(len(sizes))
        self.weight = self.task.per_sample((weights / weights.mean())[self.group].astype(np.float32))

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        even = self.settings["balance"] == "sampling"
        return balanced(rng, self.group, self.settings["batch_size"]) if even else super().epoch_batches(rng)
