"""Validation scores, which decide which step of a run is best."""

import math

import numpy as np
import torch
from scipy.special import log_softmax

from despur.compute.input_batcher import present
from despur.compute.machine import Machine
from despur.compute.randomness import derive_generator
from despur.compute.task import encode, head_of, predict, represent
from despur.methods.base import GradientMethod, Method
from despur.metrics.groups import worst_group_accuracy
from despur.specs.settings import SettingError
from despur.storage.store import Array, Dataset


class Evaluator:
    """Scores a method on the validation split: the criterion first, then the scores that break ties.

    The criterion ``objective`` is minus the loss that the method minimizes. There are no scores for a method without a
    head, or with the criterion ``last``."""

    def __init__(self, dataset: Dataset, machine: Machine, key: str, criterion: str = "worst_group_accuracy") -> None:
        self.criterion = f"val_{criterion}"
        rows = dataset.rows(dataset.about["select"])
        assert dataset.groups is not None
        self.y, self.groups, self.key = dataset.y[rows], dataset.groups[rows], key
        self.a = dataset.a[rows]
        self.batcher = present(dataset, rows, dataset.about.get("test_crop", "centre"), machine.device)

    def __call__(self, method: Method) -> dict[str, float]:
        """Scores by name. Raises SettingError if the data set has no validation split."""
        head = head_of(method.networks)
        if head is None or self.criterion == "val_last":
            return {}
        if not len(self.y):
            raise SettingError(f"{self.key}: the data set has no validation split to select on: set criterion=last")
        if self.criterion == "val_objective":
            return {self.criterion: -self.mean_objective(method)}
        logits = predict(head, represent(method.networks["encoder"], self.batcher, derive_generator(self.key, -3)))
        correct = logits.argmax(axis=1) == self.y
        scores = {
            "val_worst_group_accuracy": float(worst_group_accuracy(correct, self.groups)),
            "val_average_accuracy": float(correct.mean()),
        }
        if self.criterion == "val_log_likelihood":
            scores[self.criterion] = log_likelihood(logits, self.y)
        return {self.criterion: scores[self.criterion], **scores}

    @torch.no_grad()
    def mean_objective(self, method: Method) -> float:
        """Mean over random mini-batches, the same at each evaluation, about as large as in training."""
        assert isinstance(method, GradientMethod)
        rng = derive_generator(self.key, -3)
        z = torch.from_numpy(encode(method.networks["encoder"], None, self.batcher, rng)["z"]).to(
            method.task.device, torch.float32
        )
        y, a = (torch.from_numpy(np.array(values)).to(z.device) for values in (self.y, self.a))
        batches = np.array_split(rng.permutation(len(z)), math.ceil(len(z) / method.settings["batch_size"]))
        losses = [float(method.objective(z[rows], y[rows], a[rows])) for rows in batches]
        return float(np.average(losses, weights=[len(rows) for rows in batches]))


def log_likelihood(logits: Array, y: Array) -> float:
    """Mean log-probability of the classes ``y`` (N,), from logits (N,C), in nats."""
    return float(log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(y)), y].mean())
