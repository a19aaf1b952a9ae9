"""The meta semantic regulariser (Qiang et al. 2022, Sec. 4), which methods that compare anchors with positives wear.

f_msr maps an image to n weight vectors over the encoder's channels; both views of the image share them. Each epoch has
two stages (Alg. 1): encoder and head learn with weighted positives; then f_msr learns weights with which a step of
theirs lowers the contrastive loss."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad
from torch.func import functional_call

from despur.compute.distributed import average, gather, mean
from despur.compute.randomness import seed_torch
from despur.losses.infonce import precise
from despur.losses.semantic import backdoor, uniformity
from despur.methods.base import Losses, restore
from despur.methods.families.pairs import Pairs
from despur.storage.store import Array

Parameters = dict[str, Tensor]
Views = tuple[Tensor, Tensor]


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


def free(parameters: Parameters) -> Parameters:
    """Copies that gradients are taken for."""
    return {name: p.detach().clone().requires_grad_() for name, p in parameters.items()}


class Bound(nn.Module):
    """A method's function as a module over its networks, so that :func:`functional_call` can put other parameters in
    their place."""

    def __init__(self, networks: nn.ModuleDict, function: Callable[..., Any]) -> None:
        super().__init__()
        self.networks, self.function = networks, function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


class MSR(Pairs):
    """Wears the regulariser: ``class SimCLRMSR(MSR, SimCLR)``."""

    def setup(self) -> None:
        """f_msr, which stage 1 does not train, has an optimiser of its own."""
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
        """None: what torch.compile makes can be differentiated once, and not in forward mode."""
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
        """Stage 1 is the first half of an epoch's steps and has all of the optimiser's; stage 2 has the rate of its
        last one."""
        first = math.floor(epoch) + min(2 * (epoch % 1), 1 - 1 / self.steps_per_epoch)
        return super().lr_factor(first)

    def weigh(self, weights: Tensor, h: Tensor) -> Tensor:
        """a_t . Z (n,2N,c) for the n vectors (N,n,c) of the images behind both views (2N,c); vectors of length 1 times
        sqrt(c)."""
        scale = math.sqrt(weights.shape[2]) if self.settings["unit"] else 1.0
        return scale * weights.transpose(0, 1).repeat(1, 2, 1) * h

    def measure(self, anchors: Tensor, positives: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
        """L_ct (Eq. 1, or what the method has in its place) and L_msr of representations (2N,c), each the mean over
        anchors, or their sum; L_msr is 0 without weights."""
        embedded = self.anchor(anchors)
        own = embedded if self.shared else self.positive(positives)
        z = gather(embedded)
        p = z if self.shared else gather(own)
        times = len(z) if self.settings["reduction"] == "sum" else 1  # of 2N anchors
        contrast = times * self.contrast(z, self.opposite(p))
        if weights is None:
            return contrast, contrast.new_zeros(())
        late = (
            self.settings["mask_at"] == "embedding"
        )  # weights act on this process's positives, which are gathered then
        weighted = self.weigh(weights, own) if late else self.positive(self.weigh(weights, positives))
        return contrast, times * backdoor(self.compare(z, self.opposite(gather(weighted))))

    def objectives(self, views: Views, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """L_ct and L_msr of views."""
        return self.measure(*self.represent(*views), weights)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Stage 1: L_to (Eq. 5)."""
        images = self.task.batcher.batch(batch, rng)
        contrast, msr = self.objectives(self.views(images, rng), self.networks["msr"](images))
        return {"loss": contrast + self.settings["lambda"] * msr, "contrast": contrast.detach(), "msr": msr.detach()}

    def at(self, parameters: Parameters, function: Callable[..., Any], *inputs: Any) -> Any:
        """A function with these parameters in the place of the networks'. Running statistics of batch norm stay as
        they are, and all passes of a step drop the same units."""
        buffers = {
            name: b.clone() for name, b in self.networks.named_buffers() if "running" in name or "num_batches" in name
        }
        state = {f"networks.{name}": value for name, value in (parameters | buffers).items()}
        seed_torch(self.draw)
        return functional_call(Bound(self.networks, function), state, inputs)

    def look_ahead(self, views: Views, weights: Tensor) -> Tensor:
        """L_ct(f^1, f_ph^1) (Eq. 7 and 8), whose gradient for the weights is that of the plain step before it: with v
        = dL_ct/df^1, the gradient of -alpha lambda <v, dL_msr/df>. First order: L_msr where f and f_ph are."""
        s, now = self.settings, {name: p.detach() for name, p in self.networks.named_parameters() if p.requires_grad}
        if not s["second_order"]:
            return self.at(now, self.objectives, views, weights)[1]
        leaves = free(now)
        contrast, msr = self.at(leaves, self.objectives, views, weights.detach())
        slope = average(torch.autograd.grad(contrast + s["lambda"] * msr, list(leaves.values())))
        alpha = s["alpha"] or self.optimizer.param_groups[0]["lr"]
        ahead = free({name: p - alpha * g for (name, p), g in zip(now.items(), slope, strict=True)})
        contrast = self.at(ahead, self.objectives, views)[0]
        v = dict(zip(now, average(torch.autograd.grad(contrast, list(ahead.values()))), strict=True))
        along = mean(self.along(now, v, views, weights))
        return contrast.detach() - alpha * s["lambda"] * (along - along.detach())

    def along(self, now: Parameters, v: Parameters, views: Views, weights: Tensor) -> Tensor:
        """<v, dL_msr/df>, a function of the weights. What v does to representations, forward mode finds in one pass of
        the encoder, which knows nothing of weights; a backward pass of its backward pass would cost several. The head
        has that. (Forward mode must not be differentiated: PyTorch takes the batch's statistics for constants,
        silently.)"""
        with forward_ad.dual_level():
            moved = {name: forward_ad.make_dual(p, v[name]) for name, p in now.items()}
            anchors, positives = self.at(moved, self.represent, *views)
            h, moving = forward_ad.unpack_dual(positives)
            h, moving = h.detach().requires_grad_(), moving.detach()
        head = free({name: p for name, p in now.items() if not name.startswith("encoder.")})
        msr = self.at(head, self.measure, h if self.shared else anchors, h, weights)[1]
        slopes = torch.autograd.grad(msr, [h, *head.values()], create_graph=True)
        return torch.stack(
            [(slope * way).sum() for slope, way in zip(slopes, [moving, *(v[name] for name in head)], strict=True)]
        ).sum()

    def meta_loss(self, parameters: Parameters, views: Views, images: Tensor) -> Losses:
        """Eq. 8 as a function of f_msr's parameters."""
        weights = functional_call(self.networks["msr"], parameters, (images,))
        ahead, even = self.look_ahead(views, weights), mean(uniformity(weights, self.settings["t"]))
        return {
            "loss": ahead + self.settings["gamma"] * even,
            "look_ahead": ahead.detach(),
            "uniformity": even.detach(),
        }

    def meta_step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """Stage 2: a step of f_msr."""
        self.networks.train()
        images, network, self.draw = self.task.batcher.batch(batch, rng), self.networks["msr"], int(rng.integers(2**63))
        parameters = {name: p.detach().requires_grad_() for name, p in network.named_parameters()}
        losses = self.meta_loss(parameters, self.views(images, rng), images)
        slopes = average(torch.autograd.grad(losses["loss"], list(parameters.values())))
        for p, slope in zip(network.parameters(), slopes, strict=True):
            p.grad = slope
        self.msr_optimizer.step()
        self.msr_optimizer.zero_grad()
        return losses

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        return self.meta_step(batch, rng) if self.second_stage else super().step(batch, rng)

    def state(self) -> dict[str, Any]:
        return {**super().state(), "msr_optimizer": self.msr_optimizer.state_dict()}

    def load(self, state: dict[str, Any]) -> None:
        super().load(state)
        restore(self.msr_optimizer, state["msr_optimizer"])
