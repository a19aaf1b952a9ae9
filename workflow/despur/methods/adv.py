"""Adversarial training with several discriminators (Han et al. 2021b), a baseline of Shen et al. 2021: the encoder
learns what none of them can read the protected attribute from, and each reads it in a way of its own.

``discriminators=1+orthogonality=0`` is the plain adversary (Li et al. 2018); tuned, it overtakes Con on Moji in
fairlib (weight 1.26)."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.optimizers import choose_fused, load_optimizer
from despur.compute.transfer import to_device
from despur.losses.adversarial import reverse_gradient
from despur.methods.base import GradientMethod, Losses
from despur.samplers.domains import domains
from despur.specs.hyperparameters import adam
from despur.specs.settings import component, float_, int_
from despur.storage.store import Array

SETTINGS = {
    **adam(learning_rate=3e-3, weight_decay=0.0, batch_size=1024, epochs=60, source="as con"),
    "encoder": component("encoders", "mlp", "Experiments: two fully-connected layers of 300"),
    "groups": component("inference", "oracle", "the protected attribute"),
    "discriminators": int_(3, "Baselines", at_least=1),
    "hidden": int_(256, "released code: units of both hidden layers of a discriminator", at_least=1),
    "weight": float_(
        0.8, "released code: strength of the reversed gradient; grid .01 to 1; the one that Fig. 2 varies", at_least=0
    ),
    "orthogonality": float_(1000.0, "released code: weight of the penalty; grid 1e-4 to 1e4", at_least=0),
    "discriminator_rate": float_(1.0, "of the learning rate; not stated; released code: 0.1", above=0),
    "discriminator_epochs": int_(
        0,
        "0: 'jointly train', a discriminator step in each step; else (released code: 100) after each epoch, at "
        "most so many",
        at_least=0,
    ),
    "discriminator_patience": int_(
        5, "released code: epochs without a better loss that end them; there on dev data", at_least=1
    ),
}


class Discriminator(nn.Module):
    """Representations (B,D) -> logits of the attribute (B,A), and the hidden layer (B,H) that the penalty keeps
    apart."""

    def __init__(self, dim: int, hidden: int, values: int) -> None:
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(dim, hidden), nn.LeakyReLU(), nn.Linear(hidden, hidden))
        self.output = nn.Linear(hidden, values)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        hidden = self.hidden(z)
        return self.output(hidden), hidden


def orthogonality(hidden: list[Tensor]) -> Tensor:
    """Mean over pairs of the mean square of H_i^T H_j with unit rows (Bousmalis et al. 2016; Han et al. 2021b, Eq. 3).
    (B,H) each."""
    unit = [nn.functional.normalize(h.float()) for h in hidden]
    pairs = [(first.T @ second).square().mean() for first, second in combinations(unit, 2)]
    return torch.stack(pairs).mean() if pairs else hidden[0].new_zeros(())


class Adv(GradientMethod):
    """Encoder and head minimise cross-entropy less ``weight`` times the discriminators' mean; discriminators minimise
    theirs."""

    def setup(self) -> None:
        s = self.settings
        assert self.task.inferred_attribute is not None
        rows = domains(self.task.y, self.task.inferred_attribute)
        self.attribute = self.task.per_sample(rows)
        sizes = self.dim, s["hidden"], int(rows.max()) + 1
        self.adversary = nn.ModuleList(Discriminator(*sizes) for _ in range(s["discriminators"])).to(self.task.device)
        parameters, rate = list(self.adversary.parameters()), s["learning_rate"] * s["discriminator_rate"]
        self.rival = torch.optim.Adam(parameters, rate, fused=choose_fused(parameters))

    def build_optimizer(self) -> torch.optim.Optimizer:
        """Of encoder and head; the discriminators, which are added below it, have their own."""
        optimizer = super().build_optimizer()
        self.networks["adversary"] = self.adversary
        return optimizer

    def set_learning_rate(self, epoch: float) -> None:
        super().set_learning_rate(epoch)
        for group in self.rival.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.settings["discriminator_rate"] * self.lr_factor(epoch)

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The mini-batches; an empty one is the discriminators' turn."""
        yield from super().epoch_batches(rng)
        if self.settings["discriminator_epochs"]:
            yield np.empty(0, int)

    def adversarial(self, z: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        """Mean cross-entropy of the discriminators, and how far from orthogonal they are."""
        logits, hidden = zip(*(discriminator(z) for discriminator in self.adversary), strict=True)
        losses = [nn.functional.cross_entropy(each.float(), a) for each in logits]
        return torch.stack(losses).mean(), orthogonality(list(hidden))

    def rival_step(self, z: Tensor, a: Tensor) -> Tensor:
        """One step of the discriminators on given representations."""
        found, overlap = self.adversarial(z, a)
        total = found + self.settings["orthogonality"] * overlap
        total.backward()
        self.rival.step()
        self.rival.zero_grad(set_to_none=True)
        return total.detach()

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Of encoder and head. The discriminators learn first, so that they are never a step behind."""
        z = self.encode(batch, rng)
        cross = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[batch])
        if not self.settings["discriminator_epochs"]:
            self.rival_step(z.detach(), self.attribute[batch])
        self.adversary.requires_grad_(False)
        found, _ = self.adversarial(reverse_gradient(z, self.settings["weight"]), self.attribute[batch])
        self.adversary.requires_grad_(True)
        return {"loss": cross + found, "cross_entropy": cross.detach(), "adversarial": found.detach()}

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        return super().step(batch, rng) if len(batch) else {"loss": self.refit(rng)}

    def refit(self, rng: np.random.Generator) -> Tensor:
        """Released code: the discriminators alone, until their loss no longer falls. Representations stay, so they are
        computed once."""
        s, z = self.settings, self.encode_all(rng)
        best, stale = torch.tensor(torch.inf), 0
        for _ in range(s["discriminator_epochs"]):
            order = to_device(rng.permutation(len(z)), z.device)
            each = [self.rival_step(z[rows], self.attribute[rows]) * len(rows) for rows in order.split(s["batch_size"])]
            mean = torch.stack(each).sum() / len(z)
            best, stale = (mean, 0) if mean < best else (best, stale + 1)
            if stale >= s["discriminator_patience"]:
                break
        return best

    def count_images(self, batch: Array) -> int:
        return len(batch) or len(self.task)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "rival": self.rival.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        load_optimizer(self.rival, state["rival"])
