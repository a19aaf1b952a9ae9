"""What decides which step of a run is best: scores of a method on the split that selects."""

import math

import numpy as np
import torch
from scipy.special import log_softmax

from despur.compute.machine import Machine
from despur.compute.randomness import generator
from despur.compute.task import encode, head_of, present
from despur.methods.base import Method
from despur.metrics.groups import worst_group_accuracy
from despur.specs.settings import SettingError
from despur.storage.store import Dataset


class Evaluator:
    """Scores a method on the split that selects: the criterion first, the others to break ties. Nothing without a
    head, or where the last step counts. The criterion ``objective`` is what the method minimises, less of it being
    better."""

    def __init__(self, dataset: Dataset, facts: Machine, key: str, criterion: str = "worst_group_accuracy") -> None:
        self.criterion = f"val_{criterion}"
        rows = dataset.rows(dataset.about["select"])
        assert dataset.groups is not None
        self.y, self.groups, self.key = dataset.y[rows], dataset.groups[rows], key
        self.a = dataset.table["a"].to_numpy()[rows]
        self.shown = present(dataset, rows, dataset.about.get("test_crop", "centre"), facts.device)

    def __call__(self, method: Method) -> dict[str, float]:
        head = head_of(method.networks)
        if head is None or self.criterion == "val_last":
            return {}
        if not len(self.y):
            raise SettingError(f"{self.key}: the data has no validation split to select on: ask for criterion=last")
        if self.criterion == "val_objective":
            return {self.criterion: -self.objective(method)}
        logits = encode(method.networks["encoder"], head, self.shown, generator(self.key, -3))["logits"]
        correct = logits.argmax(axis=1) == self.y
        scores = {
            "val_worst_group_accuracy": float(worst_group_accuracy(correct, self.groups)),
            "val_average_accuracy": float(correct.mean()),
        }
        if self.criterion == "val_log_likelihood":
            scores[self.criterion] = float(
                log_softmax(logits.astype(np.float64), axis=1)[np.arange(len(self.y)), self.y].mean()
            )
        return {self.criterion: scores[self.criterion], **scores}

    @torch.no_grad()
    def objective(self, method: Method) -> float:
        """Mean over random mini-batches, the same at each look, about as large as in training."""
        rng = generator(self.key, -3)
        z = torch.from_numpy(encode(method.networks["encoder"], None, self.shown, rng)["z"]).to(
            method.task.device, torch.float32
        )
        y, a = (torch.from_numpy(np.array(values)).to(z.device) for values in (self.y, self.a))
        batches = np.array_split(rng.permutation(len(z)), math.ceil(len(z) / method.settings["batch_size"]))
        return float(
            np.average([float(method.objective(z[b], y[b], a[b])) for b in batches], weights=list(map(len, batches)))
        )
