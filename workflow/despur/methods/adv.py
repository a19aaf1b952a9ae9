"""Adversarial training with several discriminators (Han et al. 2021b), a baseline of Shen et al. 2021: the
discriminators, kept different from each other, predict the protected attribute, and the encoder learns to prevent
it.

``discriminators=1+orthogonality=0`` is the plain adversary (Li et al. 2018). Tuned, it is better than Con on Moji in
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

REVISION = 2

SETTINGS = {
    **adam(learning_rate=3e-3, weight_decay=0.0, batch_size=1024, epochs=60, source="as con"),
    "encoder": component("encoders", "mlp", "Experiments: two fully-connected layers of 300"),
    "groups": component("inference", "oracle", "the protected attribute"),
    "discriminators": int_(3, "Baselines", at_least=1),
    "hidden": int_(256, "released code: units of both hidden layers of a discriminator", at_least=1),
    "weight": float_(
        0.8, "released code: strength of the reversed gradient; grid .01 to 1; varied in Fig. 2", at_least=0
    ),
    "orthogonality": float_(
        1000.0,
        "not stated; weight of the penalty: released code, grid 1e-4 to 1e4; Han et al. 2021b's: 1000, its README 1e4",
        at_least=0,
    ),
    "discriminator_rate": float_(1.0, "of the learning rate; not stated; released code: 0.1", above=0),
    "discriminator_epochs": int_(
        0,
        "0: 'jointly train', a discriminator step in each step; else (released code: 100) after each epoch, at "
        "most so many",
        at_least=0,
    ),
    "discriminator_patience": int_(
        5,
        "released code, on dev data; here on training data: epochs without a better loss before they stop",
        at_least=1,
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
    """Mean over pairs of the mean square of the entries of H_i H_j^T (B,B), of hidden layers (B,H) with rows of
    length 1.

    As the code of Han et al. 2021b and of fairlib have it: lengths are constants of the gradient. Their papers
    write H_i^T H_j. Here the squares are summed by way of H^T H (H,H), which is smaller than (B,B)."""
    with torch.autocast(hidden[0].device.type, enabled=False):  # the products of alike rows cancel
        unit = [h.float() / (h.float().norm(dim=1, keepdim=True).detach() + 1e-6) for h in hidden]
        products = [h.T @ h for h in unit]
        squares = [(first * second).sum() / len(hidden[0]) ** 2 for first, second in combinations(products, 2)]
    return torch.stack(squares).mean() if squares else hidden[0].new_zeros(())


class Adv(GradientMethod):
    """Encoder and head minimize cross-entropy less ``weight`` times the discriminators' mean; discriminators minimize
    theirs."""

    def setup(self) -> None:
        s = self.settings
        rows = domains(self.task.y, self.task.inferred)
        self.attribute = self.task.per_sample(rows)
        sizes = self.dim, s["hidden"], int(rows.max()) + 1
        self.adversary = nn.ModuleList(Discriminator(*sizes) for _ in range(s["discriminators"])).to(self.task.device)
        parameters, rate = list(self.adversary.parameters()), s["learning_rate"] * s["discriminator_rate"]
        self.discriminator_optimizer = torch.optim.Adam(parameters, rate, fused=choose_fused(parameters))

    def build_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer of encoder and head. The discriminators, which are added below it, have their own."""
        optimizer = super().build_optimizer()
        self.networks["adversary"] = self.adversary
        return optimizer

    def set_learning_rate(self, epoch: float) -> None:
        super().set_learning_rate(epoch)
        for group in self.discriminator_optimizer.param_groups:
            group["lr"] = self.settings["learning_rate"] * self.settings["discriminator_rate"] * self.lr_factor(epoch)

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """The mini-batches. An empty one at the end is a step of the discriminators alone."""
        yield from super().epoch_batches(rng)
        if self.settings["discriminator_epochs"]:
            yield np.empty(0, int)

    def adversarial(self, z: Tensor, a: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Mean cross-entropy of the discriminators, and their hidden layers (B,H)."""
        logits, hidden = zip(*(discriminator(z) for discriminator in self.adversary), strict=True)
        losses = [nn.functional.cross_entropy(discriminator_logits.float(), a) for discriminator_logits in logits]
        return torch.stack(losses).mean(), list(hidden)

    def discriminator_step(self, z: Tensor, a: Tensor) -> Tensor:
        """One step of the discriminators on given representations."""
        cross, hidden = self.adversarial(z, a)
        total = cross + self.settings["orthogonality"] * orthogonality(hidden)
        total.backward()
        self.discriminator_optimizer.step()
        self.discriminator_optimizer.zero_grad(set_to_none=True)
        return total.detach()

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Losses of encoder and head. The discriminators take their step first."""
        z = self.encode(batch, rng)
        cross = nn.functional.cross_entropy(self.networks["head"](z).float(), self.task.labels[batch])
        if not self.settings["discriminator_epochs"]:
            self.discriminator_step(z.detach(), self.attribute[batch])
        self.adversary.requires_grad_(False)
        adversarial, _ = self.adversarial(reverse_gradient(z, self.settings["weight"]), self.attribute[batch])
        self.adversary.requires_grad_(True)
        return {"loss": cross + adversarial, "cross_entropy": cross, "adversarial": adversarial}

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        return super().step(batch, rng) if len(batch) else {"loss": self.refit(rng)}

    def refit(self, rng: np.random.Generator) -> Tensor:
        """Released code: train the discriminators alone until their loss no longer falls. Representations are
        computed once."""
        s, z = self.settings, self.encode_all(rng)
        best, epochs_without_improvement = torch.tensor(torch.inf), 0
        for _ in range(s["discriminator_epochs"]):
            order = to_device(rng.permutation(len(z)), z.device)
            losses = [
                self.discriminator_step(z[rows], self.attribute[rows]) * len(rows)
                for rows in order.split(s["batch_size"])
            ]
            mean = torch.stack(losses).sum() / len(z)
            improved = mean < best
            best, epochs_without_improvement = (mean, 0) if improved else (best, epochs_without_improvement + 1)
            if epochs_without_improvement >= s["discriminator_patience"]:
                break
        return best

    def count_images(self, batch: Array) -> int:
        return len(batch) or len(self.task)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "rival": self.discriminator_optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        load_optimizer(self.discriminator_optimizer, state["rival"])
