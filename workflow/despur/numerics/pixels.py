"""Images as pretrained networks expect them."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate


class Standardize(nn.Module):
    """Images (B,3,H,W) in [-1,1] -> (B,3,*size), with the mean and standard deviation of the channels in [0,1] taken
    out; ``size`` none: as large as they are. Resized bicubically. A run's file of weights holds both, too, if
    ``kept``."""

    def __init__(
        self, size: tuple[int, int] | None, mean: Sequence[float], deviation: Sequence[float], kept: bool = True
    ) -> None:
        super().__init__()
        self.size = size
        of_mean, of_deviation = (torch.tensor(values).view(1, 3, 1, 1) for values in (mean, deviation))
        self.register_buffer("shift", (0.5 - of_mean) / of_deviation, kept)  # (x + 1) / 2 is in [0, 1]
        self.register_buffer("scale", 0.5 / of_deviation, kept)

    def forward(self, images: Tensor) -> Tensor:
        if self.size and images.shape[2:] != self.size:
            images = interpolate(images, self.size, mode="bicubic", antialias=True).clamp(-1, 1)
        return images * self.get_buffer("scale") + self.get_buffer("shift")
