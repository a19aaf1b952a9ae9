"""Correct-N-Contrast (Zhang et al. 2022, Sec. 4 and App. C): contrast samples of one class that stage 1 predicts differently,
and samples of different classes that it predicts alike."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.losses.contrastive import supervised_contrastive
from despur.methods.base import Losses, Method
from despur.samplers.contrastive import ContrastiveSampler
from despur.settings import choice, flag, part, real, sgd, whole
from despur.store import Array

SETTINGS = {
    **sgd(learning_rate=1e-3, momentum=0.9, weight_decay=1e-4, epochs=3, source="App. E.2.4 (CMNIST*)"),
    "groups": part("inference", "clusters", "App. E.2.4: clustering-based predictions for all data sets"),
    "num_positives": whole(32, "App. E.2.4: M", at_least=1),
    "num_negatives": whole(32, "App. E.2.4: N", at_least=1),
    "temperature": real(0.05, "App. E.2.4: tau", above=0),
    "lambda": real(0.75, "App. E.2.4: weight of the contrastive loss", at_least=0, at_most=1),
    "accumulation": whole(32, "App. E.2.4: contrastive batches an optimiser step", at_least=1),
    "anchors": choice("correct", "Alg. 2; Alg. 1 says every training sample", "correct", "all"),
    "anchor_fraction": real(1.0, "released code: .1 on CelebA and CivilComments", above=0, at_most=1),
    "truncate": flag(True, "released code: slices cut to the smallest one's anchors"),
    "two_sided": flag(True, "App. C.2, A.4"),
    "positives_by": choice("both", "Alg. 1; class: SupCon*", "both", "class"),
    "negatives_by": choice("both", "Alg. 1; App. A.3", "both", "class", "prediction"),
    "projection": whole(0, "App. A.4: 0 is none; the ablation uses 128", at_least=0),
    "shrink": flag(True, "released code: M and N at most the smallest pool; false: draw with replacement"),
    "batchnorm": choice("eval", "released code: encoder in evaluation mode in stage 2", "eval", "train"),
    "head_gradient": choice("clear", "released code never clears it within an epoch: accumulate", "clear", "accumulate"),
}


class CNC(Method):
    """Eq. 7: lambda L_con + (1 - lambda) L_cross, the mean over ``accumulation`` contrastive batches a step."""

    def setup(self) -> None:
        s = self.settings
        assert self.task.groups is not None
        self.sampler = ContrastiveSampler(
            self.task.y,
            self.task.groups,
            s["num_positives"],
            s["num_negatives"],
            anchors_from=s["anchors"],
            positives_by=s["positives_by"],
            negatives_by=s["negatives_by"],
            shrink=s["shrink"],
        )
        if s["projection"]:
            layers = nn.Linear(self.dim, self.dim), nn.ReLU(), nn.Linear(self.dim, s["projection"])
            self.networks["projection"] = nn.Sequential(*layers).to(self.task.device)

        self.kept: list[Tensor | None] = []

    def state(self) -> dict[str, Any]:
        return super().state() | {"head_gradient": [parameter.grad for parameter in self.networks["head"].parameters()]}

    def load(self, state: dict[str, Any]) -> None:
        """The head's gradient so far is given back when the interrupted epoch goes on."""
        super().load(state)
        self.kept = state["head_gradient"]

    def facts(self) -> dict[str, Any]:
        return {
            "num_positives": self.sampler.num_positives,
            "num_negatives": self.sampler.num_negatives,
            "fallbacks": self.sampler.fallbacks,
        }

    def epoch(self, rng: np.random.Generator) -> Iterator[Array]:
        """First anchors, ``accumulation`` of them a step."""
        self.optimizer.zero_grad()
        for parameter, gradient in zip(self.networks["head"].parameters(), self.kept, strict=False):
            parameter.grad = gradient
        self.kept = []
        truncate = self.settings["truncate"] and self.settings["anchors"] == "correct"
        anchors = self.sampler.epoch(rng, self.settings["anchor_fraction"], truncate)
        yield from np.array_split(anchors, math.ceil(len(anchors) / self.settings["accumulation"]))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Eq. 7 and 16-17. A sample that occurs several times in a step is encoded once (its view is the same)."""
        s, m = self.settings, self.sampler.num_positives
        rows = self.sampler.draw(rng, batch).rows
        distinct, where = (
            np.unique(rows, return_inverse=True) if self.task.presentation.once_per_step else (rows.ravel(), np.arange(rows.size))
        )
        where = where.reshape(rows.shape)
        index = torch.from_numpy(where).to(self.task.device)
        z = self.networks["encoder"](self.task.presentation.view(distinct, rng))
        unit = nn.functional.normalize((self.networks["projection"](z) if s["projection"] else z).float())
        anchors, positives, negatives, reverse = index.split([m, m, self.sampler.num_negatives, self.sampler.num_negatives], dim=1)
        contrastive = self._contrast(unit, anchors[:, 0], positives, negatives)
        if s["two_sided"]:
            contrastive = contrastive + self._contrast(unit, positives[:, 0], anchors, reverse)
        weight = torch.from_numpy(np.bincount(where.ravel(), minlength=len(distinct)) / rows.size).to(unit)
        each = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[distinct], reduction="none")
        cross = (weight * each).sum()
        return {
            "loss": s["lambda"] * contrastive + (1 - s["lambda"]) * cross,
            "contrastive": contrastive.detach(),
            "cross_entropy": cross.detach(),
        }

    def _contrast(self, unit: Tensor, anchor: Tensor, positives: Tensor, negatives: Tensor) -> Tensor:
        with torch.autocast(unit.device.type, enabled=False):  # similarities over a small temperature need full precision
            similarity = unit[anchor] @ unit.T
        return supervised_contrastive(similarity.gather(1, positives), similarity.gather(1, negatives), self.settings["temperature"]).mean()

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """One optimiser step; the head's gradient is kept over an epoch with head_gradient=accumulate."""
        self.networks.train()
        if self.settings["batchnorm"] == "eval":
            self.networks["encoder"].eval()
        losses = self.losses(batch, rng)
        kept = ("head",) if self.settings["head_gradient"] == "accumulate" else ()
        for name, network in self.networks.items():
            if name not in kept:
                network.zero_grad(set_to_none=True)
        losses["loss"].backward()
        self.optimizer.step()
        return losses

    def presentations(self, batch: Array) -> int:
        return len(batch) * 2 * (self.sampler.num_positives + self.sampler.num_negatives)
