"""Learning from Failure (Nam et al. 2020): a biased network learns from easy samples, a debiased one from samples
that are hard for the first."""

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.transfer import to_device
from despur.losses.cross_entropy import generalized_cross_entropy
from despur.methods.base import GradientMethod, Losses
from despur.specs.hyperparameters import as_erm
from despur.specs.settings import choice, float_, uniform
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {
    **as_erm("App. E.2.5 (CMNIST*): as JTT"),
    "q": float_(
        0.7,
        "App. E.2.5: 0 would be cross-entropy, 1 is the mean absolute error",
        above=0,
        at_most=1,
        search=uniform(0.05, 0.95, "SubpopBench"),
    ),
    "gce": choice(
        "paper", "Nam et al., Sec. 3: (1 - p^q) / q; released code: q times that gradient", "paper", "released"
    ),
    "memory": float_(0.7, "released code: share of the past in a sample's running loss", at_least=0, below=1),
}


def class_maxima(values: Tensor, labels: Tensor, count: int) -> Tensor:
    """The largest of ``values`` (N,) in each class, (count,); at least 0."""
    return values.new_zeros(count).scatter_reduce(0, labels, values, "amax")


class LfF(GradientMethod):
    """Alg. 1 of Nam et al.: both networks learn at once. The debiased one (encoder and head) weights samples by
    relative difficulty."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        networks = GradientMethod.build_networks(spec, shape, num_classes)
        networks["biased"] = nn.Sequential(*GradientMethod.build_networks(spec, shape, num_classes).values())
        return networks

    def setup(self) -> None:
        """Running losses of every sample under both networks. Negative: the sample has not occurred yet."""
        for name in ("running_biased", "running_debiased"):
            self.networks.register_buffer(name, torch.full((len(self.task),), -1.0, device=self.task.device))

    def compilable_modules(self) -> list[nn.Module]:
        return [*super().compilable_modules(), self.networks["biased"]]

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Generalized cross-entropy of the biased network, plus weighted cross-entropy of the debiased one: they share
        no parameter."""
        s, labels = self.settings, self.task.labels[batch]
        images = self.task.batcher.batch(batch, rng)
        biased = self.networks["biased"](images).float()
        debiased = self.networks["head"](self.networks["encoder"](images)).float()
        hard = nn.functional.cross_entropy(debiased, labels, reduction="none")
        weight = self.weights(
            batch, nn.functional.cross_entropy(biased, labels, reduction="none").detach(), hard.detach()
        )
        easy = generalized_cross_entropy(biased, labels, s["q"]).mean() * (s["q"] if s["gce"] == "released" else 1)
        weighted = (weight * hard).mean()
        return {"loss": easy + weighted, "biased": easy, "debiased": weighted, "mean_weight": weight.mean()}

    def weights(self, batch: Array, biased: Tensor, debiased: Tensor) -> Tensor:
        """Relative difficulty L_b / (L_b + L_d) of the normalized running losses, (B,)."""
        b, d = (
            self.normalized(f"running_{name}", batch, loss)
            for name, loss in (("biased", biased), ("debiased", debiased))
        )
        return b / (b + d).clamp(min=1e-8)

    def normalized(self, name: str, batch: Array, loss: Tensor) -> Tensor:
        """Update the running losses of a batch, and divide them by the largest one of their class (released code)."""
        running, labels, memory = self.networks.get_buffer(name), self.task.labels, self.settings["memory"]
        rows = to_device(batch, running.device)
        past = running[rows]
        running[rows] = torch.where(past < 0, loss, memory * past + (1 - memory) * loss)
        return running[rows] / class_maxima(running, labels.values, self.task.num_classes).clamp(min=1e-8)[labels[rows]]
