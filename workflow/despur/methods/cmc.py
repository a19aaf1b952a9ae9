"""CMC (Tian et al. 2020): the two views of an image are its lightness and its color, each with its own encoder."""

import numpy as np
import torch
from torch import Tensor, nn

from despur.augment.base import lab
from despur.compute.transfer import to_device
from despur.encoders.base import build_encoder
from despur.methods.families.pairs import rowwise
from despur.methods.simclr import SimCLR
from despur.specs.selfsupervised_hyperparameters import contrast, siamese
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {**siamese(), **contrast(0.07, "Sec. 4 of Tian et al.")}


class Halves(nn.Module):
    """Images (B,3,H,W) in L*a*b* -> representations (B,2c): of lightness L, then of color ab. Each encoder takes
    three channels; those of the other view are 0."""

    def __init__(self, lightness: nn.Module, color: nn.Module) -> None:
        super().__init__()
        self.lightness, self.color = lightness, color
        self.dim = 2 * int(lightness.dim)  # type: ignore[arg-type]

    def forward(self, images: Tensor) -> Tensor:
        one = to_device(torch.tensor([1.0, 0.0, 0.0]), images.device)[:, None, None]
        return torch.cat([self.lightness(images * one), self.color(images * (1 - one))], dim=1)


class Encoder(nn.Module):
    """Images (B,3,H,W) in [-1,1] -> representations (B,2c)."""

    def __init__(self, backbone: Halves) -> None:
        super().__init__()
        self.backbone, self.dim = backbone, backbone.dim

    def forward(self, images: Tensor) -> Tensor:
        return self.backbone(lab((images + 1) / 2))


class CMC(SimCLR):
    """Eq. 2 of Tian et al. between the two views, in both directions, with negatives from the batch; theirs come
    from a memory of all samples."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        return nn.ModuleDict({"encoder": Encoder(Halves(build_encoder(spec, shape), build_encoder(spec, shape)))})

    def build_projector(self, dim: int) -> nn.Module:
        return nn.ModuleList([super(CMC, self).build_projector(dim // 2) for _ in range(2)])

    @property
    def channels(self) -> int:
        return self.dim // 2

    def views(self, images: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
        """One random view of the image (N,3,H,W) in L*a*b*: the encoder makes two views of it."""
        view = lab((self.augment(images, rng) + 1) / 2)
        return view, view

    def compilable_modules(self) -> list[nn.Module]:
        return [self.networks["encoder"].backbone]  # type: ignore[list-item]

    def represent(self, anchors: Tensor, positives: Tensor) -> tuple[Tensor, Tensor]:
        backbone: nn.Module = self.networks["encoder"].backbone  # type: ignore[assignment]
        h = torch.cat(backbone(positives).chunk(2, dim=1))
        return h, h

    def positive(self, h: Tensor) -> Tensor:
        networks: nn.ModuleList = self.networks["projector"]  # type: ignore[assignment]
        return torch.cat(
            [rowwise(network, half) for network, half in zip(networks, h.chunk(2, dim=-2), strict=True)], dim=-2
        )

    def count_images(self, batch: Array) -> int:
        return batch.size
