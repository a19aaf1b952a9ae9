"""Gradients that are kept after a step."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from despur.methods.base import GradientMethod, Losses
from despur.storage.store import Array


class KeepsHeadGradient(GradientMethod):
    """With head_gradient=accumulate, the head's gradient is cleared once an epoch instead of once a step. A
    checkpoint holds it."""

    resumed = False

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """An epoch starts without gradients, unless it is resumed."""
        if not self.resumed:
            self.optimizer.zero_grad()
        self.resumed = False
        yield from self.batches(rng)

    def batches(self, rng: np.random.Generator) -> list[Array]:
        """The batches of one epoch."""
        raise NotImplementedError

    def sub_batches(self, batch: Array) -> list[Array]:
        """The pieces of a step's batch that are encoded at once."""
        return [batch]

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """One optimizer step, in the present modes of the networks. The loss is the mean over the batch: gradients
        of its pieces add up."""
        for name, network in self.networks.items():
            if name != "head" or self.settings["head_gradient"] != "accumulate":
                network.zero_grad(set_to_none=True)
        total: Losses = {}
        for piece in self.sub_batches(batch):
            losses, share = self.losses(piece, rng), len(piece) / len(batch)
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
