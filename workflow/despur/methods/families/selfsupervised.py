"""Methods that learn representations without labels, from two random views of every sample."""

import math
from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor, nn

from despur.augment.base import build_augment
from despur.encoders.base import build_encoder
from despur.losses.infonce import candidates, two_view_contrast
from despur.methods.base import GradientMethod
from despur.samplers.domains import domains
from despur.specs.spec import Spec
from despur.storage.store import Array


def projector(kind: str, dim: int, out: int, width: int) -> nn.Module:
    """The network between representation (B,dim) and loss (B,out). Lewis et al. 2023, App. G: none, a linear layer, or
    two with a ReLU. W-MSE's released code: with ``width`` hidden units and batch norm, of the embedding too in
    ``mlp_bn_bn``."""
    if kind == "none":
        return nn.Identity()
    if kind == "linear":
        return nn.Linear(dim, out)
    if kind == "mlp":
        return nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, out))
    last = [nn.BatchNorm1d(out)] if kind == "mlp_bn_bn" else []
    return nn.Sequential(nn.Linear(dim, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, out), *last)


class SelfSupervised(GradientMethod):
    """An encoder without a head. No criterion: the last step counts."""

    TRAINED_ON = ("train", "unlabelled")

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        return nn.ModuleDict({"encoder": build_encoder(spec, shape)})

    def setup(self) -> None:
        self.augment = build_augment(self.task, self.spec)
        self.networks["projector"] = self.build_projector(self.dim)

    def build_projector(self, dim: int) -> nn.Module:
        """The network from representations (B,dim) to embeddings, where the loss acts."""
        s = self.settings
        return projector(s["projector"], dim, s["projector_dim"], s["projector_width"]).to(self.task.device)

    def lr_factor(self, epoch: float) -> float:
        """As other methods, or with two drops near the end (Qiang et al. 2022, Sec. 6.2), or half a period of a cosine
        from the warm-up to the end (google-research/simclr, model_util.py). It grows over the first ``warmup``
        steps."""
        s = self.settings
        warm = min(1.0, (epoch * self.steps_per_epoch + 1) / s["warmup"]) if s["warmup"] else 1.0
        if s["decay"] == "cosine":
            first = s["warmup"] / self.steps_per_epoch  # epoch
            return warm * (1 + math.cos(math.pi * max(0.0, epoch - first) / (s["epochs"] - first))) / 2
        if s["decay"] != "drops":
            return warm * super().lr_factor(epoch)
        return warm * s["drop"] ** sum(epoch >= s["epochs"] - s[key] for key in ("drop_first", "drop_second"))

    @property
    def embedding_dim(self) -> int:
        return int(self.settings["projector_dim"]) if self.settings["projector"] != "none" else self.dim

    @property
    def batch_size(self) -> int:
        return min(self.settings["batch_size"], len(self.task))

    @property
    def steps_per_epoch(self) -> int:
        return len(self.task) // self.batch_size

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """Whole batches, so that every anchor has as many negatives. A different remainder is left out in each
        epoch."""
        order = rng.permutation(len(self.task))[: self.steps_per_epoch * self.batch_size]
        yield from order.reshape(-1, self.batch_size)

    def embed(self, images: Tensor) -> Tensor:
        """Embeddings (B,D) of images, for the loss."""
        return self.networks["projector"](self.networks["encoder"](images))

    def two_views(self, batch: Array, rng: np.random.Generator) -> Tensor:
        """Embeddings (2N,D) of two random views of N samples: all first views, then all second views."""
        images = self.task.batcher.batch(batch, rng)
        return self.embed(self.augment(torch.cat([images, images]), rng))

    def info_nce(self, z: Tensor) -> Tensor:
        """Eq. 2 of Lewis et al. 2023 on the embeddings (2N,D) of two views, a scalar."""
        allowed = candidates(len(z) // 2, self.settings["negatives"], z.device)
        return two_view_contrast(z, allowed, self.settings["temperature"])

    def count_images(self, batch: Array) -> int:
        return 2 * batch.size


class WithDomains(SelfSupervised):
    """Knows each training sample's domain: ``self.domain`` (N,), numbers below ``self.num_domains``."""

    def setup(self) -> None:
        super().setup()
        number = domains(self.task.y, self.task.inferred)
        self.domain, self.num_domains = self.task.per_sample(number), int(number.max()) + 1

    def domains_of(self, batch: Array) -> Tensor:
        """Domains of both views of a batch, (2N,)."""
        return self.domain[batch].repeat(2)
