"""Methods that compare two views of each sample, and target networks that follow slowly.

Embeddings of 2N views: rows i and N + i are views of sample i. Each view is an anchor, the label; the other view is
its positive, which is compared with it (Qiang et al. 2022, Sec. 3.2)."""

import copy
import math

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.distributed import gather
from despur.losses.infonce import precise
from despur.methods.base import Losses
from despur.methods.families.selfsupervised import SelfSupervised
from despur.storage.store import Array


def rowwise(network: nn.Module, x: Tensor) -> Tensor:
    """A network on the rows of (...,2N,c), all at once."""
    return network(x.flatten(0, -2)).unflatten(0, x.shape[:-1])


class Pairs(SelfSupervised):
    """Compares anchors with positives. Subclasses define the comparison (:meth:`compare`) and the networks.
    ``shared``: the same networks and views represent anchors and positives."""

    shared = True
    PARALLEL = True

    def views(self, images: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """Two random views of N images, (2N,C,H,W), as anchors and as positives. Here both are the same."""
        views = self.augment(torch.cat([images, images]), rng)
        return views, views

    def represent(self, anchors: Tensor, positives: Tensor) -> tuple[Tensor, Tensor]:
        """Representations (2N,c) of anchors and of positives."""
        h = self.networks["encoder"](positives)
        return h, h

    @property
    def channels(self) -> int:
        """c, the size of a positive's representation."""
        return self.dim

    def anchor(self, h: Tensor) -> Tensor:
        """Embeddings (2N,d) of anchors."""
        return self.positive(h)

    def positive(self, h: Tensor) -> Tensor:
        """Embeddings (...,2N,d) of positives (...,2N,c)."""
        return rowwise(self.networks["projector"], h)

    def compare(self, z: Tensor, p: Tensor) -> Tensor:
        """Loss (...,2N) of each anchor in ``z`` (2N,d), whose positive is the same row of ``p`` (...,2N,d)."""
        raise NotImplementedError

    def contrast(self, z: Tensor, p: Tensor) -> Tensor:
        """The loss of a batch, a scalar: the mean over anchors, and further terms of the method's paper."""
        return self.compare(z, p).mean()

    def opposite(self, p: Tensor) -> Tensor:
        """Move positives (...,2N,d) to the rows of their anchors: the two views are exchanged."""
        return p.roll(p.shape[-2] // 2, dims=-2)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        anchors, positives = self.represent(*self.views(self.task.batcher.batch(batch, rng), rng))
        z = gather(self.anchor(anchors))
        return {"loss": self.contrast(z, self.opposite(z if self.shared else gather(self.positive(positives))))}


class WithTarget(Pairs):
    """Anchors are represented by a target network without gradients. Its parameters follow those of encoder and
    projector; its batch norm has its own statistics (W-MSE's code)."""

    shared = False

    def setup(self) -> None:
        super().setup()
        learned = nn.ModuleDict({name: self.networks[name] for name in ("encoder", "projector")})
        self.networks["target"] = copy.deepcopy(learned).requires_grad_(False)

    def target(self, name: str) -> nn.Module:
        return self.networks["target"][name]  # type: ignore[index]

    def compilable_modules(self) -> list[nn.Module]:
        return [*super().compilable_modules(), self.target("encoder")]

    def momentum(self) -> float:
        """The target's share of its past parameters after the epochs so far: constant, or 1 - (1 - ema) (cos(pi share
        of training) + 1) / 2 (Grill et al. 2020)."""
        s = self.settings
        falling = (math.cos(math.pi * self.epoch / s["epochs"]) + 1) / 2 if s["ema_increase"] == "cosine" else 1.0
        return 1 - (1 - s["ema"]) * falling

    @torch.no_grad()
    def follow(self) -> None:
        """Move the target's parameters towards those that are learned."""
        share = 1 - self.momentum()
        for name in ("encoder", "projector"):
            for slow, fast in zip(self.target(name).parameters(), self.networks[name].parameters(), strict=True):
                slow.lerp_(fast, share)

    def represent(self, anchors: Tensor, positives: Tensor) -> tuple[Tensor, Tensor]:
        with torch.no_grad():
            slow = self.target("encoder")(anchors)
        return slow, self.networks["encoder"](positives)

    @torch.no_grad()
    def anchor(self, h: Tensor) -> Tensor:
        return self.target("projector")(h)

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        losses = super().step(batch, rng)
        self.follow()
        return losses


class WithQueue(WithTarget):
    """Keeps the latest ``queue`` embeddings (K,d) of the target network, of length 1, to compare with. It starts
    with random ones."""

    TRANSIENT = ("latest",)

    def setup(self) -> None:
        super().setup()
        random = torch.randn(self.settings["queue"], self.embedding_dim)
        self.networks.register_buffer("queue", nn.functional.normalize(random).to(self.task.device))

    @property
    def queue(self) -> Tensor:
        return self.networks.get_buffer("queue")

    def anchor(self, h: Tensor) -> Tensor:
        return nn.functional.normalize(precise(super().anchor(h)))

    def contrast(self, z: Tensor, p: Tensor) -> Tensor:
        self.latest = z
        return super().contrast(z, p)

    def step(self, batch: Array, rng: np.random.Generator) -> Losses:
        """The embeddings of this step join the queue for the next step."""
        losses = super().step(batch, rng)
        self.queue.copy_(torch.cat([self.latest.to(self.queue.dtype), self.queue])[: len(self.queue)])
        return losses
