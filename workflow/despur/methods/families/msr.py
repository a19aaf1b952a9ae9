"""The meta semantic regularizer (Qiang et al. 2022, Sec. 4), which is added to methods that compare anchors with
positives.

f_msr maps an image to n weight vectors over the encoder's channels. Both views of the image share them. Each epoch has
two stages (Alg. 1): encoder and head learn with weighted positives, then f_msr learns weights with which a step of
encoder and head lowers the contrastive loss."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

from despur.compute.distributed import average, mean
from despur.compute.optimizers import load_optimizer
from despur.losses.infonce import precise
from despur.losses.semantic import uniformity
from despur.methods.base import Losses
from despur.methods.families.look_ahead import Parameters, Views, WeightedPairs
from despur.storage.store import Array


class SemanticWeights(nn.Module):
    """f_msr: images (B,C,H,W) -> A_s (B,n,c), by three convolutions in steps of two pixels, averages over the image
    and a linear layer."""

    def __init__(self, shape: tuple[int, ...], width: int, n: int, c: int, squash: bool, unit: bool) -> None:
        super().__init__()
        self.size, self.squash, self.unit = (n, c), squash, unit
        channels = [shape[0], width, 2 * width, 4 * width]
        blocks = [
            layer
            for i in range(3)
            for layer in (nn.Conv2d(channels[i], channels[i + 1], 3, stride=2, padding=1), nn.ReLU())
        ]
        self.layers = nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, n * c))

    def forward(self, images: Tensor) -> Tensor:
        weights = precise(self.layers(images)).unflatten(1, self.size)
        weights = weights.sigmoid() if self.squash else weights
        return nn.functional.normalize(weights, dim=2) if self.unit else weights


class MSR(WeightedPairs):
    """Adds the regularizer to a method: ``class SimCLRMSR(MSR, SimCLR)``."""

    def setup(self) -> None:
        """f_msr has its own optimizer: that of the other networks does not train it."""
        super().setup()
        s = self.settings
        channels = self.channels if s["mask_at"] == "representation" else self.embedding_dim
        self.networks["msr"] = (
            SemanticWeights(
                self.task.batcher.shape, s["msr_width"], s["n"], channels, s["squash"] == "sigmoid", s["unit"]
            )
            .requires_grad_(False)
            .to(self.task.device)
        )
        self.msr_optimizer = torch.optim.Adam(self.networks["msr"].parameters(), s["beta"])

    def compilable_modules(self) -> list[nn.Module]:
        """None: compiled networks can be differentiated only once, and not in forward mode."""
        return []

    @property
    def second_stage(self) -> bool:
        """Whether the next step is one of f_msr."""
        return self.steps_done // self.steps_per_epoch % 2 == 1

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """All batches twice, in two orders: the two stages of Alg. 1."""
        yield from super().epoch_batches(rng)
        yield from super().epoch_batches(rng)

    def lr_factor(self, epoch: float) -> float:
        """Stage 1, the first half of an epoch's steps, goes through the whole epoch's schedule. Stage 2 has the factor
        of the last step of stage 1."""
        first = math.floor(epoch) + min(2 * (epoch % 1), 1 - 1 / self.steps_per_epoch)
        return super().lr_factor(first)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Stage 1: L_to (Eq. 5)."""
        images = self.task.batcher.batch(batch, rng)
        contrast, msr = self.objectives(self.views(images, rng), self.networks["msr"](images))
        return {"loss": contrast + self.settings["lambda"] * msr, "contrast": contrast, "msr": msr}

    def meta_loss(self, parameters: Parameters, views: Views, images: Tensor) -> Losses:
        """Eq. 8 as a function of f_msr's parameters."""
        weights = functional_call(self.networks["msr"], parameters, (images,))
        l_ct, l_uni = self.look_ahead(views, weights), mean(uniformity(weights, self.settings["t"]))
        loss = l_ct + self.settings["gamma"] * l_uni
        return {"loss": loss, "look_ahead": l_ct, "uniformity": l_uni}

    def meta_step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Stage 2: a step of f_msr."""
        self.networks.train()
        images, network = self.task.batcher.batch(batch, rng), self.networks["msr"]
        self.step_seed = int(rng.integers(2**63))
        parameters = {name: p.detach().requires_grad_() for name, p in network.named_parameters()}
        losses = self.meta_loss(parameters, self.views(images, rng), images)
        gradients = average(torch.autograd.grad(losses["loss"], list(parameters.values())))
        for p, gradient in zip(network.parameters(), gradients, strict=True):
            p.grad = gradient
        self.msr_optimizer.step()
        self.msr_optimizer.zero_grad()
        return losses

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        return self.meta_step(batch, rng) if self.second_stage else super().step(batch, rng)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "msr_optimizer": self.msr_optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        load_optimizer(self.msr_optimizer, state["msr_optimizer"])
