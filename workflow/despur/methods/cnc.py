"""Correct-N-Contrast (Zhang et al. 2022, Sec. 4 and App. C): positives are samples of the anchor's class with
another stage-1 prediction, negatives are samples of other classes with the same prediction."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.transfer import to_device
from despur.losses.alignment import alignment_distance
from despur.losses.contrastive import contrast
from despur.methods.base import GradientMethod, Losses
from despur.methods.families.predicted_classes import predict_classes
from despur.samplers.contrastive import ContrastiveSampler, distinct
from despur.specs.hyperparameters import sgd
from despur.specs.settings import SettingError, around, bool_, choice, component, float_, int_, uniform
from despur.storage.store import Array

SETTINGS = {
    **sgd(learning_rate=1e-3, momentum=0.9, weight_decay=1e-4, epochs=3, source="App. E.2.4 (CMNIST*)"),
    "groups": component(
        "inference",
        "clusters",
        "App. E.2.4: clustering-based predictions for all data sets",
        as_class="anchors=correct",
    ),
    "num_positives": int_(32, "App. E.2.4: M", at_least=1),
    "num_negatives": int_(32, "App. E.2.4: N", at_least=1),
    "temperature": float_(0.05, "App. E.2.4: tau", above=0, search=around(5, "ours; Table A.7: .05, .1")),
    "lambda": float_(
        0.75,
        "App. E.2.4: weight of the contrastive loss",
        at_least=0,
        at_most=1,
        search=uniform(0.1, 0.9, "ours; Table A.5: .2 to .9"),
    ),
    "loss": choice(
        "contrastive",
        "Eq. 16; App. A.1: alignment, Eq. 4 on anchors and positives in its place",
        "contrastive",
        "alignment",
    ),
    "schedule": choice("joint", "Eq. 7; App. A.4.2: train_finetune", "joint", "train_finetune"),
    "finetune_epochs": int_(
        1, "with schedule=train_finetune: the last epochs, by cross-entropy alone; not stated", at_least=1
    ),
    "finetune": choice(
        "head",
        "with schedule=train_finetune, App. A.4.2: the encoder is frozen in these epochs; all: it is not",
        "head",
        "all",
    ),
    "accumulation": int_(32, "App. E.2.4: contrastive batches an optimizer step", at_least=1),
    "at_once": int_(
        0, "contrastive batches of a step that are encoded at once, 0: all; fewer need less memory", at_least=0
    ),
    "anchors": choice("correct", "Alg. 2; Alg. 1 says every training sample", "correct", "all"),
    "anchor_fraction": float_(1.0, "released code: .1 on CelebA and CivilComments", above=0, at_most=1),
    "truncate": bool_(True, "released code: slices cut to the smallest one's anchors"),
    "two_sided": bool_(True, "App. C.2, A.4"),
    "positives_by": choice("both", "Alg. 1; class: SupCon*", "both", "class"),
    "negatives_by": choice("both", "Alg. 1; App. A.3", "both", "class", "prediction"),
    "projection": int_(0, "App. A.4: 0 is none; the ablation uses 128", at_least=0),
    "shrink": bool_(True, "released code: M and N at most the smallest pool; false: draw with replacement"),
    "batchnorm": choice("eval", "released code: encoder in evaluation mode in stage 2", "eval", "train"),
    "head_gradient": choice(
        "clear", "released code never clears it within an epoch: accumulate", "clear", "accumulate"
    ),
}


class CNC(GradientMethod):
    """Eq. 7: lambda L_con + (1 - lambda) L_cross, the mean over ``accumulation`` contrastive batches a step. With
    head_gradient=accumulate, the head's gradient is cleared once an epoch instead of once a step."""

    resumed = False

    def setup(self) -> None:
        s = self.settings
        self.sampler = self.build_sampler()
        if s["projection"]:
            layers = nn.Linear(self.dim, self.dim), nn.ReLU(), nn.Linear(self.dim, s["projection"])
            self.networks["projection"] = nn.Sequential(*layers).to(self.task.device)
        if s["schedule"] == "train_finetune":
            if s["finetune_epochs"] >= s["epochs"]:
                raise SettingError(
                    f"finetune_epochs={s['finetune_epochs']} leaves none of {s['epochs']} epochs to the encoder"
                )
            self.encoder_steps = (s["epochs"] - s["finetune_epochs"]) * len(self.batches(np.random.default_rng(0)))

    def build_sampler(self) -> ContrastiveSampler:
        s = self.settings
        rules = {"anchors_from": s["anchors"], **{key: s[key] for key in ("positives_by", "negatives_by", "shrink")}}
        inferred = predict_classes(self.task, s["groups"]) if s["anchors"] == "correct" else self.task.inferred
        return ContrastiveSampler(self.task.y, inferred, s["num_positives"], s["num_negatives"], **rules)

    def metadata(self) -> dict[str, Any]:
        anchors = self.sampler.draw_anchors(
            np.random.default_rng(0), self.settings["anchor_fraction"], self.settings["truncate"]
        )
        sizes = {name: getattr(self.sampler, name) for name in ("num_positives", "num_negatives", "fallbacks")}
        return {**sizes, "anchors_per_epoch": len(anchors)}

    @property
    def finetuning(self) -> bool:
        """Whether only cross-entropy is still minimized (App. A.4.2)."""
        return self.settings["schedule"] == "train_finetune" and self.steps_done >= self.encoder_steps

    @property
    def frozen(self) -> bool:
        """Whether the encoder is no longer trained."""
        return self.finetuning and self.settings["finetune"] == "head"

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """An epoch starts without gradients, unless it is resumed."""
        if not self.resumed:
            self.optimizer.zero_grad()
        self.resumed = False
        yield from self.batches(rng)

    def batches(self, rng: np.random.Generator) -> list[Array]:
        """The first anchors of an epoch's contrastive batches, ``accumulation`` of them for each step."""
        anchors = self.sampler.draw_anchors(rng, self.settings["anchor_fraction"], self.settings["truncate"])
        return np.array_split(anchors, math.ceil(len(anchors) / self.settings["accumulation"]))

    def sub_batches(self, batch: Array) -> list[Array]:
        """The parts of a step's batch that are encoded at once."""
        return np.array_split(batch, math.ceil(len(batch) / (self.settings["at_once"] or len(batch))))

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Eq. 7. A sample that occurs several times in ``batch`` is encoded once if all its occurrences are the
        same."""
        s, m, n = self.settings, self.sampler.num_positives, self.sampler.num_negatives
        rows = self.sampler.draw(rng, batch).rows
        samples, where = distinct(rows, self.task.batcher.once_per_step)
        with torch.set_grad_enabled(not self.frozen):
            z = self.encode(samples, rng)
            index = to_device(where, self.task.device)
            similar = self.similarity_loss(z, *index.split([m, m, n, n], dim=1))
        weight = to_device(
            (np.bincount(where.ravel(), minlength=len(samples)) / rows.size).astype(np.float32), z.device
        )
        losses = nn.functional.cross_entropy(
            self.networks["head"](z).float(), self.task.labels[samples], reduction="none"
        )
        cross = (weight * losses).sum()
        total = s["lambda"] * similar + (1 - s["lambda"]) * cross
        if s["schedule"] == "train_finetune":
            total = cross if self.finetuning else similar
        return {"loss": total, s["loss"]: similar, "cross_entropy": cross}

    def similarity_loss(
        self, z: Tensor, anchors: Tensor, positives: Tensor, negatives: Tensor, reverse: Tensor
    ) -> Tensor:
        """Eq. 16-17 of normalized representations, or Eq. 4 of representations that are not normalized."""
        s = self.settings
        z = (self.networks["projection"](z) if s["projection"] else z).float()
        if s["loss"] == "alignment":
            return alignment_distance(z[anchors], z[positives]).mean()
        unit = nn.functional.normalize(z)
        loss = contrast(unit, anchors[:, 0], positives, negatives, s["temperature"])
        if s["two_sided"]:
            loss = loss + contrast(unit, positives[:, 0], anchors, reverse, s["temperature"])
        return loss

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """One optimizer step. The loss is the mean over the batch: gradients of its parts add up."""
        self.networks.train()
        if self.settings["batchnorm"] == "eval" or self.frozen:
            self.networks["encoder"].eval()
        for name, network in self.networks.items():
            if name != "head" or self.settings["head_gradient"] != "accumulate":
                network.zero_grad(set_to_none=True)
        total: Losses = {}
        for part in self.sub_batches(batch):
            losses, share = self.losses(part, rng), len(part) / len(batch)
            (share * losses["loss"]).backward()
            for name, value in losses.items():
                total[name] = total.get(name, 0) + share * value.detach()
        self.optimizer_step()
        return total

    def state(self) -> dict[str, Any]:
        return {**super().state(), "head_gradient": [p.grad for p in self.networks["head"].parameters()]}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        for parameter, gradient in zip(self.networks["head"].parameters(), state["head_gradient"], strict=True):
            parameter.grad = None if gradient is None else gradient.clone()
        self.resumed = True

    def count_images(self, batch: Array) -> int:
        return len(batch) * 2 * (self.sampler.num_positives + self.sampler.num_negatives)
