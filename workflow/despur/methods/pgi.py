"""Predictive Group Invariance (Ahmed et al. 2021; Zhang et al. 2022, App. E.2.5): the mean predicted distribution of
a class should be the same in the two environments that EIIL infers.

App. E.2.5 found that shuffled mini-batches fail and reports ``balanced`` ones: composed like CNC's, with
environments in the place of predictions.

Deviations from the code that Ahmed et al. released (Faruk-Ahmed/predictive_group_invariance, mnist/main.py):
there, the divergence trains the encoder alone (``divergence_trains=encoder``), is a mean over classes, and rises after
an epoch without it; of each environment, the mean cross-entropy counts half."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.losses.groups import group_means
from despur.methods.base import GradientMethod, Losses
from despur.samplers.contrastive import ContrastiveSampler
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import SettingError, choice, component, float_, int_, log_uniform
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5, E.2.6 (CMNIST*): as JTT"),
    "groups": component("inference", "eiil", "App. E.2.5: the same mechanism as in EIIL"),
    "lambda": float_(
        0.5,
        "App. E.2.6 sweeps {0.1, 0.5, 10, 100}, selects none; this one by validation on colored_digits",
        at_least=0,
        search=log_uniform(0.1, 100, "App. E.2.6"),
    ),
    "divergence_trains": choice(
        "all", "App. E.2.5 does not say; encoder: released code of Ahmed et al.", "all", "encoder"
    ),
    "batches": choice(
        "balanced",
        "App. E.2.5: the final version; shuffled: the first one, which it reports too",
        "balanced",
        "shuffled",
    ),
    "num_positives": int_(32, "App. E.2.5: as CNC's M, with balanced batches", at_least=1),
    "num_negatives": int_(32, "App. E.2.5: as CNC's N, with balanced batches", at_least=1),
}


def group_divergence(logits: Tensor, labels: Tensor, environment: Tensor) -> Tensor:
    """sum_c KL(Q_c || P_c) over the classes of the batch that occur in both environments; a scalar.

    P_c and Q_c are the mean softmax of class c in environment 0 and 1. Environment 0 is the one that stage 1 finds
    easier, so its confident predictions are the second argument (Ahmed et al. 2021). ``logits`` (B,C), ``labels`` and
    ``environment`` (B,)."""
    distributions, share = group_means(logits.float().softmax(dim=1), 2 * labels + environment, 2 * logits.shape[1])
    both = (share.view(-1, 2) > 0).all(dim=1)
    mean = distributions.clamp(min=torch.finfo(torch.float32).tiny).view(-1, 2, logits.shape[1])
    easy, hard = mean.unbind(1)
    return (both[:, None] * hard * (hard.log() - easy.log())).sum()


class PGI(GradientMethod):
    """Cross-entropy + lambda x the divergence between environments, both on the samples of one batch."""

    def setup(self) -> None:
        """Raises SettingError for more than two environments."""
        if (count := int(self.task.inferred.max()) + 1) > 2:
            raise SettingError(f"pgi compares two environments; groups={self.settings['groups']} gives {count}")
        self.environment = self.task.per_sample(self.task.inferred)
        if self.settings["batches"] == "balanced":
            m, n = self.settings["num_positives"], self.settings["num_negatives"]
            self.sampler = ContrastiveSampler(self.task.y, self.task.inferred, m, n, anchors_from="all", shrink=False)

    def metadata(self) -> dict[str, Any]:
        return {"environment_sizes": np.bincount(self.task.inferred, minlength=2).tolist()}

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """Shuffled mini-batches; or balanced ones of M anchors, M positives and 2N negatives, about as many samples
        an epoch as there are."""
        if self.settings["batches"] == "shuffled":
            yield from super().epoch_batches(rng)
            return
        size = 2 * (self.sampler.num_positives + self.sampler.num_negatives)
        anchors = self.sampler.draw_anchors(rng, truncate=False)[: math.ceil(len(self.task) / size)]
        yield from self.sampler.draw(rng, anchors).rows

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        z, labels = self.encode(batch, rng), self.task.labels[batch]
        logits = compared = self.networks["head"](z)
        if self.settings["divergence_trains"] == "encoder":
            fixed = {name: value.detach() for name, value in self.networks["head"].named_parameters()}
            compared = torch.func.functional_call(self.networks["head"], fixed, z)
        cross = nn.functional.cross_entropy(logits, labels)
        divergence = group_divergence(compared, labels, self.environment[batch])
        loss = cross + self.settings["lambda"] * divergence
        return {"loss": loss, "cross_entropy": cross, "divergence": divergence}
