"""Contrastive adapter (Zhang & Re 2022, Sec. 4.2). Anchors are samples that zero-shot classification gets wrong;
positives are samples of their class that it gets right; negatives are nearest neighbors of other classes.

Deviation: with ``anchor_fraction`` below 1, anchors are drawn without replacement from all. The released code draws
as many of each (class, prediction)."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from despur.compute.transfer import to_device
from despur.losses.contrastive_adapter import one_positive_contrast
from despur.methods.adapter import Adapter
from despur.methods.base import Losses
from despur.methods.families.embeddings import Bottleneck
from despur.methods.families.predicted_classes import predict_classes
from despur.numerics.neighbors import nearest
from despur.samplers import hard
from despur.specs.declarations import read_declarations
from despur.specs.settings import bool_, choice, component, float_, int_
from despur.storage.store import Array

# The paper's appendix C is missing: what Sec. 4.2 does not state follows the released code.
SETTINGS = {
    **read_declarations("methods", "adapter")["SETTINGS"],
    "groups": component(
        "inference",
        "predictions",
        "Sec. 4.2: zero-shot; released code on Waterbirds and CelebA: clusters (UMAP, k-means)",
        as_class=True,
    ),
    "contrastive": bool_(True, "Table 5"),
    "sampling": choice(
        "hard", "Sec. 4.2; Table 5 (ablation), also of cross-entropy: random, as many anchors", "hard", "random"
    ),
    "num_positives": int_(2048, "released code: P", at_least=1),
    "num_negatives": int_(2048, "released code: M; 512 on CIFAR", at_least=1),
    "num_neighbors": int_(
        4096, "released code: nearest neighbors from which negatives are drawn; 1024 on CIFAR", at_least=1
    ),
    "neighbors": choice(
        "other_classes",
        "Sec. 4.2; released code: among all, those of the anchor's class masked (all), on small data of the sample "
        "whose number is the anchor's position among the anchors of its class (misplaced)",
        *("other_classes", "all", "misplaced"),
    ),
    "contrast_temperature": float_(0.1, "released code: tau of Eq. 6", above=0),
    "anchors_per_step": int_(128, "released code: as the batch size", at_least=1),
    "anchor_fraction": float_(1.0, "released code: .1 but on Waterbirds", above=0, at_most=1),
    "balance_anchors": bool_(False, "released code: on BREEDS and CIFAR, of each class as many as of the rarest"),
    "gradient": choice("sum", "released code: over the anchors of a step", "sum", "mean"),
    "schedule": choice(
        "alternating",
        "released code: one epoch Eq. 6, one cross-entropy; joint: both in each step",
        "alternating",
        "joint",
    ),
    "resample": choice(
        "minibatch",
        "Sec. 4.2: as many wrong as right samples in each mini-batch; released code: cells (Waterbirds), "
        "classes_then_cells",
        *("minibatch", "cells", "classes_then_cells"),
    ),
    "cell_size": int_(500, "released code: with resample=cells, samples of each class and prediction", at_least=1),
}


class ContrastiveAdapter(Adapter):
    """Eq. 6 on anchors, Eq. 5 on resampled samples. If zero-shot classification is never wrong, all epochs train Eq.
    5."""

    def setup(self) -> None:
        super().setup()
        s, y = self.settings, self.task.y
        self.predicted = predict_classes(self.task, s["groups"])
        self.sampler = hard.HardSampler(y, self.predicted, s["num_positives"], s["num_negatives"], s["sampling"])
        self.contrasts = s["contrastive"] and len(self.sampler.hard) > 0
        if self.contrasts and s["sampling"] == "hard":
            self.unit = normalize(self.task.batcher.batch(np.arange(len(y)), np.random.default_rng(0)))

    def metadata(self) -> dict[str, Any]:
        sampler = self.sampler
        return {
            "zero_shot_wrong": int(sampler.wrong.sum()),
            "anchors": len(sampler.hard),
            "wrong_without_positive": sampler.skipped,
        }

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Any]:
        """Anchors in the first, third, ... epoch, samples for cross-entropy in the others. With schedule=joint, both
        in each step."""
        s, empty = self.settings, np.empty(0, int)
        joint = s["schedule"] == "joint"
        anchors = (
            self.sampler.draw_anchors(rng, s["anchor_fraction"], s["balance_anchors"]) if self.contrasts else empty
        )
        if self.contrasts and not joint and self.epochs_done % 2 == 0:
            yield from (
                (rows, empty) for rows in np.array_split(anchors, math.ceil(len(anchors) / s["anchors_per_step"]))
            )
            return
        samples = self.samples(rng)
        anchors_by_step = np.array_split(anchors, len(samples)) if joint else [empty] * len(samples)
        yield from zip(anchors_by_step, samples, strict=True)

    def samples(self, rng: np.random.Generator) -> list[Array]:
        """Mini-batches for cross-entropy: resampled, or with sampling=random shuffled."""
        s, y = self.settings, self.task.y
        if s["sampling"] == "random":
            return self.mini_batches(rng.permutation(len(y)))
        if s["resample"] == "minibatch":
            wrong, right = hard.upsampled(rng, self.sampler.wrong)
            count = math.ceil((len(wrong) + len(right)) / s["batch_size"])
            return [
                np.concatenate(pair)
                for pair in zip(np.array_split(wrong, count), np.array_split(right, count), strict=True)
            ]
        if s["resample"] == "cells":
            return self.mini_batches(hard.draw_each_class_and_prediction(rng, y, self.predicted, s["cell_size"]))
        return self.mini_batches(hard.upsample_classes_then_predictions(rng, y, self.predicted))

    def neighbors(self, anchors: Array) -> list[Array]:
        """For each anchor, the rows from which its negatives are drawn."""
        s, y = self.settings, self.task.y
        if s["sampling"] == "random":
            return self.sampler.list_other_classes(anchors)
        apart = s["neighbors"] == "other_classes"
        where = self.sampler.positions()[anchors] if s["neighbors"] == "misplaced" else anchors
        rows, count = to_device(where, self.unit.device), min(s["num_neighbors"], len(y) - 1)
        neighbors = nearest(self.unit, rows, count, self.task.labels.values if apart else None).cpu().numpy()
        return [near[y[near] != y[anchor]] if apart else near for near, anchor in zip(neighbors, anchors, strict=True)]

    def contrast(self, anchors: Array, rng: np.random.Generator) -> Tensor:
        """Add the gradient of Eq. 6 and return the mean loss. Each anchor with its positives and negatives is one
        mini-batch to batch norm.

        What does not depend on the mini-batch is computed once a step: down-projections, and products of the
        up-projection."""
        encoder, drawn = self.networks["encoder"], self.sampler.draw(rng, anchors, self.neighbors(anchors))
        assert isinstance(encoder, Bottleneck)
        samples, where = np.unique(drawn.rows, return_inverse=True)
        once = encoder.down(self.task.batcher.batch(samples, rng)), encoder.gram()
        hidden, gram = (tensor.detach().float().requires_grad_() for tensor in once)
        positions = to_device(where.reshape(drawn.rows.shape), hidden.device)
        is_positive, is_negative = (to_device(mask, hidden.device) for mask in (drawn.is_positive, drawn.is_negative))
        scale = 1.0 if self.settings["gradient"] == "sum" else 1 / len(anchors)
        total = torch.zeros((), device=hidden.device)
        for i in range(len(anchors)):
            cosines = encoder.cosines(hidden.index_select(0, positions[i]), gram)
            loss = self.anchor_loss(cosines, is_positive[i : i + 1], is_negative[i : i + 1])
            (scale * loss).backward()
            total += loss.detach() / len(anchors)
        assert hidden.grad is not None and gram.grad is not None
        torch.autograd.backward(once, [hidden.grad.to(once[0].dtype), gram.grad.to(once[1].dtype)])
        return total

    def anchor_loss(self, cosines: Tensor, is_positive: Tensor, is_negative: Tensor) -> Tensor:
        """Eq. 6 of one anchor, from its cosines with its positives and then its negatives, (P+M,)."""
        s = self.settings
        positive, negative = cosines[None].split([s["num_positives"], s["num_negatives"]], dim=1)
        return one_positive_contrast(positive, negative, is_positive, is_negative, s["contrast_temperature"]).sum()

    def step(self, batch: Any, rng: np.random.Generator) -> Losses:
        """One optimizer step on Eq. 6, Eq. 5 or their sum."""
        anchors, samples = batch
        self.networks.train()
        self.optimizer.zero_grad(set_to_none=True)
        losses: Losses = {}
        if len(anchors):
            losses["contrastive_loss"] = self.contrast(anchors, rng)
        if len(samples):
            logits = self.forward(samples, rng)
            cross = cross_entropy(logits, self.task.labels[samples])
            cross.backward()
            losses["cross_entropy"] = cross
        self.optimizer_step()
        return {"loss": torch.stack(list(losses.values())).sum(), **losses}

    def count_images(self, batch: Any) -> int:
        anchors, samples = batch
        return len(anchors) * (1 + self.settings["num_positives"] + self.settings["num_negatives"]) + len(samples)
