"""Three convolutional blocks and one linear layer (Lewis et al. 2023, App. D)."""

import itertools

from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import SettingError, Settings, choice, float_, int_

SEED_CHUNK = 5

SETTINGS = {
    "width": int_(32, "not stated: channels of the first block; each next block has twice as many", at_least=1),
    "kernel": int_(3, "not stated", at_least=1),
    "dropout": float_(0.1, "App. D: in each block; the rate is not stated", at_least=0, below=1),
    "dropped": choice(
        "channels", "not stated: whole channels, as is usual for convolutions; or single units", "channels", "units"
    ),
    "pooling": choice(
        "none",
        "not stated: the linear layer reads every position of the last block; or the mean over positions",
        "none",
        "mean",
    ),
    "dim": int_(16, "Sec. 3, App. D: representations", at_least=1),
}


class ConvNet(nn.Module):
    """Images (B,C,H,W) -> representations (B,dim)."""

    saliency_layer = "layers.11"  # the last block

    def __init__(self, settings: Settings, shape: tuple[int, ...]) -> None:
        super().__init__()
        self.dim: int = settings["dim"]
        channels = [shape[0], *(settings["width"] * 2**i for i in range(3))]
        sides = [-(-side // 8) for side in shape[1:]]
        dropout = nn.Dropout2d if settings["dropped"] == "channels" else nn.Dropout
        kernel, layers = settings["kernel"], []
        for inputs, outputs in itertools.pairwise(channels):
            # The paper states no pooling, so the convolutions have a stride of 2. Batch norm makes a bias useless.
            convolution = nn.Conv2d(inputs, outputs, kernel, stride=2, padding=kernel // 2, bias=False)
            layers += [convolution, nn.BatchNorm2d(outputs), dropout(settings["dropout"]), nn.ReLU()]
        if settings["pooling"] == "mean":
            layers, sides = [*layers, nn.AdaptiveAvgPool2d(1)], [1, 1]
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(channels[-1] * sides[0] * sides[1], self.dim))

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)


def build(settings: Settings, input_shape: tuple[int, ...]) -> ConvNet:
    """With PyTorch's default initialization. Raises SettingError for an even kernel and for inputs that are not images
    (C,H,W)."""
    if len(input_shape) != 3:
        raise misfit("convnet", "images", input_shape)
    if settings["kernel"] % 2 == 0:
        raise SettingError(f"encoder.kernel={settings['kernel']}: must be odd, so that it has a central pixel")
    return ConvNet(settings, input_shape)
