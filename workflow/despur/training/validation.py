"""Validation scores, which decide which step of a run is best."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.special import log_softmax

from despur.compute.input_batcher import present
from despur.compute.machine import Machine
from despur.compute.randomness import derive_generator
from despur.compute.task import encode, head_of, predict, represent
from despur.methods.base import GradientMethod, Method
from despur.metrics.groups import group_accuracies, worst_group_accuracy
from despur.specs.hyperparameters import RULES
from despur.specs.settings import SettingError
from despur.storage.store import Array, Dataset

TIES = ("val_worst_group_accuracy", "val_average_accuracy")  # of equal steps


class Evaluator:
    """Scores a method on the validation split: the criterion first, then the scores that break ties; with ``rules``,
    then these, and the accuracy of each group and class.

    The criterion ``objective`` is minus the loss that the method minimizes. There are no scores for a method without a
    head, or with the criterion ``last``; nor can it have rules (SettingError)."""

    def __init__(
        self,
        dataset: Dataset,
        machine: Machine,
        key: str,
        criterion: str = "worst_group_accuracy",
        rules: Sequence[str] = (),
    ) -> None:
        self.criterion, self.rules = f"val_{criterion}", rules
        if rules and criterion not in RULES:
            words = ", ".join(RULES)
            raise SettingError(f"{key}: selections=rules needs a criterion that scores steps: set criterion to {words}")
        self.splits = ", ".join(dataset.splits)
        rows = dataset.rows(dataset.about["select"])
        assert dataset.groups is not None
        self.names = dataset.about["groups"], dataset.about["classes"]
        self.y, self.groups, self.key = dataset.y[rows], dataset.groups[rows], key
        self.a = dataset.a[rows]
        self.batcher = present(dataset, rows, dataset.about.get("test_crop", "centre"), machine.device)

    def __call__(self, method: Method) -> dict[str, float]:
        """Scores by name. Raises SettingError if the data set has no validation split."""
        head = head_of(method.networks)
        if head is None and self.rules:
            raise SettingError(f"{self.key}: selections=rules needs a method that predicts classes, as criteria do")
        if head is None or self.criterion == "val_last":
            return {}
        if not len(self.y):
            raise SettingError(
                f"{self.key}: the data set has no validation split to select on: set criterion=last, or let "
                f"about['select'] name one of its splits ({self.splits})"
            )
        if self.criterion == "val_objective":
            return {self.criterion: -self.mean_objective(method)}
        logits = predict(head, represent(method.networks["encoder"], self.batcher, derive_generator(self.key, -3)))
        shown = dict.fromkeys([self.criterion, *TIES, *(f"val_{rule}" for rule in self.rules)])
        scores = {name: score_rule(name.removeprefix("val_"), logits, self.y, self.groups) for name in shown}
        return scores | (self.score_parts(logits) if self.rules else {})

    @property
    def compared(self) -> dict[str, tuple[str, ...]]:
        """With rules, the scores that decide which step each selection has."""
        first = {"best": self.criterion, **{rule: f"val_{rule}" for rule in self.rules}}
        return {selection: (name, *TIES) for selection, name in first.items()} if self.rules else {}

    def score_parts(self, logits: Array) -> dict[str, float]:
        """Accuracies of groups and of classes that have samples."""
        correct, parts = logits.argmax(axis=1) == self.y, dict[str, float]()
        members = self.groups, self.y[:, None] == np.arange(len(self.names[1]))
        for metric, names, member in zip(("accuracy", "class_average_accuracy"), self.names, members, strict=True):
            values = zip(names, group_accuracies(correct, member), strict=True)
            parts |= {f"val_{metric} {name}": float(value) for name, value in values if not math.isnan(value)}
        return parts

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


def score_rule(rule: str, logits: Array, y: Array, groups: Array) -> float:
    """The score of a rule, from logits (N,C), classes ``y`` (N,) and ``groups`` (N,G): a share, or nats."""
    correct = logits.argmax(axis=1) == y
    if rule == "worst_group_accuracy":
        return float(worst_group_accuracy(correct, groups))
    if rule == "average_accuracy":
        return float(correct.mean())
    if rule == "log_likelihood":
        return float(log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(y)), y].mean())
    classes = group_accuracies(correct, y[:, None] == np.unique(y))
    return float(classes.min() if rule == "worst_class_accuracy" else classes.mean())
