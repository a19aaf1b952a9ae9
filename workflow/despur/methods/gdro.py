"""Group distributionally robust optimization (Sagawa et al. 2019), with true or inferred groups.

Groups are (class, attribute). With ``groups=oracle``, the default, the method reads the true attribute of training
samples."""

from collections.abc import Iterator

import numpy as np
import torch
from torch import nn

from despur.losses.cross_entropy import group_dro
from despur.methods.base import GradientMethod, Losses
from despur.methods.families.domain_batches import number_groups
from despur.samplers.domains import draw_batches
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, component, float_, log_uniform
from despur.storage.store import Array

REVISION = 2  # the adjustment counts for groups without samples in a batch, too
SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*): as JTT"),
    "groups": component("inference", "oracle", "Sec. 5.1: an oracle"),
    "step_size": float_(
        0.01,
        "released code of Group DRO: exponentiated gradient step",
        above=0,
        search=log_uniform(1e-3, 0.1, "SubpopBench"),
    ),
    "adjustment": float_(0.0, "App. E.2.5: C = 0", at_least=0),
    "sampler": choice(
        "balanced",
        "released code of Group DRO (--reweight_groups); App. E.2.5: as JTT 'but without the upsampling'",
        "balanced",
        "shuffled",
    ),
}


class GroupDRO(GradientMethod):
    """Minimizes the q-weighted sum of group losses. The weights q grow for groups with a high loss."""

    def setup(self) -> None:
        """Number the groups that occur in training. Groups without samples have no loss and no weight."""
        group = number_groups(self.task)
        self.counts = np.bincount(group)
        self.group = self.task.per_sample(group)
        self.chances = 1 / self.counts[group] / len(self.counts)
        self.margin = torch.tensor(
            self.settings["adjustment"] / np.sqrt(self.counts), dtype=torch.float32, device=self.task.device
        )
        self.networks.register_buffer(
            "q", torch.full((len(self.counts),), 1 / len(self.counts), device=self.task.device)
        )

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """As many samples as there are, drawn with replacement, each group with the same probability; or shuffled."""
        even = self.settings["sampler"] == "balanced"
        return draw_batches(rng, self.chances, self.settings["batch_size"]) if even else super().epoch_batches(rng)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Alg. 1 of Sagawa et al.: group means, q update, weighted sum."""
        logits = self.forward(batch, rng)
        sample_losses = nn.functional.cross_entropy(logits, self.task.labels[batch], reduction="none")
        q = self.networks.get_buffer("q")
        loss, weights = group_dro(sample_losses, self.group[batch], q, self.settings["step_size"], self.margin)
        q.copy_(weights)
        return {"loss": loss, "mean_loss": sample_losses.mean()}
