"""Balanced softmax (Ren et al. 2020, Eq. 4): cross-entropy with a softmax that knows the sizes of classes in training.

``BSoftmax`` in SubpopBench (Yang et al. 2023). At test time all classes count the same: logits are used as they are."""

import numpy as np
import torch

from despur.losses.cross_entropy import balanced_softmax
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import SUBPOPBENCH, as_erm
from despur.storage.store import Array

SETTINGS = {**as_erm(SUBPOPBENCH)}


class BalancedSoftmax(GradientMethod):
    """Minimizes -log(n_y exp(l_y) / sum_c n_c exp(l_c)), with logits l and n_c training samples of class c."""

    def setup(self) -> None:
        sizes = np.bincount(self.task.y, minlength=self.task.num_classes)
        self.class_sizes = torch.from_numpy(sizes).to(self.task.device)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        logits = self.forward(batch, rng)
        return {"loss": balanced_softmax(logits, self.task.labels[batch], self.class_sizes)}
