"""Automatic feature reweighting, AFR (Qiu et al. 2023): the last layer of ERM is trained further, on held-out samples.
They weigh the more, the less ERM believes in their class. No attribute is needed.

From their released code (AndPotap/afr at b34b6cd1, README), which tunes gamma and lambda for each data set. Numbers of
equations could not be looked up. Deviation: their held-out samples are 20 % of the training data, without which ERM is
trained; here they are a part of the validation data. There is no augmentation, as in their second stage."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from despur.encoders.identity import Identity
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import on_held_out, on_stage1, sgd
from despur.specs.settings import float_, log_uniform, without
from despur.specs.spec import Spec
from despur.storage.store import Array

REVISION = 2
SETTINGS = {
    **without(sgd(0.01, 0.0, 0.0, 500, "released code: Waterbirds; CelebA: 1000 epochs"), "encoder"),
    "learning_rate": float_(0.01, "released code: Waterbirds; CelebA: .02; not tuned", above=0),
    "weight_decay": float_(0.0, "released code: should be 0", at_least=0),
    "clip": float_(1.0, "released code: largest norm of a step's gradient; 0: any", at_least=0),
    **on_stage1("erm", "last", "released code: a model trained by ERM, its final checkpoint"),
    **on_held_out(0.5, "not stated: theirs are of the training data"),
    "gamma": float_(
        10.0,
        "released code: Waterbirds; CelebA: 1.44. 0: weights of classes alone",
        at_least=0,
        search=log_uniform(1, 20, "Qiu et al.: 1 to 3 on CelebA, 4 to 20 on Waterbirds"),
    ),
    "lambda": float_(
        0.0,
        "released code: Waterbirds; CelebA: .001",
        at_least=0,
        search=log_uniform(0.001, 0.3, "released code: 0 to .3 on Waterbirds, .001 to .1 on CelebA"),
    ),
}


class AFR(GradientMethod):
    """Minimizes sum_i w_i CE_i + lambda |head - head of ERM|^2 by gradient descent, from ERM's head.

    The weights w_i are proportional to exp(-gamma p_i) / n_y, with p_i the probability that ERM gives to the class y of
    sample i, and n_y samples of this class. They sum to 1 and stay as they are."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Identity(dim), "head": nn.Linear(dim, num_classes)})

    def setup(self) -> None:
        before = self.task.stage1_outputs
        assert before is not None and before.bias is not None
        arrays = {"weight": before.head, "bias": before.bias}
        self.start = {name: torch.from_numpy(np.array(array)).to(self.task.device) for name, array in arrays.items()}
        self.networks["head"].load_state_dict(self.start)
        weights = weigh_samples(before.logits, self.task.y, self.settings["gamma"])
        self.weight = self.task.per_sample(weights.astype(np.float32))

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """All samples at once."""
        yield np.arange(len(self.task))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        sample_losses = nn.functional.cross_entropy(self.forward(batch, rng), self.task.labels[batch], reduction="none")
        head = self.networks["head"].named_parameters()
        distance = torch.stack([(value - self.start[name]).square().sum() for name, value in head]).sum()
        loss = (self.weight[batch] * sample_losses).sum() + self.settings["lambda"] * distance
        return {"loss": loss, "mean_loss": sample_losses.mean(), "distance": distance}


def weigh_samples(logits: Array, y: Array, gamma: float) -> Array:
    """The weights (N,) of samples, from the logits (N,C) of ERM and classes ``y`` (N,). They sum to 1."""
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    odds = np.exp(shifted)
    right = odds[np.arange(len(y)), y] / odds.sum(axis=1)
    weights = np.exp(-gamma * right) / np.bincount(y)[y]
    return weights / weights.sum()
