"""ResNet-50 of torchvision, pretrained on ImageNet (Zhang et al. 2022, App. E.2.2, E.2.4: Waterbirds and CelebA)."""

import torch
from torch import Tensor, nn
from torchvision.models import resnet50

from despur.encoders.base import misfit
from despur.numerics.pixels import Standardize
from despur.specs.settings import Settings, choice
from despur.storage.pretrained import fetch, remedy
from despur.storage.raw_files import require_checksum

SEED_CHUNK = 1
SETTINGS = {"weights": choice("imagenet", "App. E.2.2: torchvision's, IMAGENET1K_V1", "imagenet", "random")}

URL = "https://download.pytorch.org/models/"
DOWNLOADS = (
    {
        "url": "https://download.pytorch.org/models/resnet50-0676ba61.pth",
        "file": "resnet50-0676ba61.pth",
        "checksum": "sha256:0676ba61b6795bbe1773cffd859882e5e297624d384b6993f7c9e683e722fb8a",
        "size": 102_530_333,
        "license": "BSD 3-Clause (torchvision); trained on ImageNet",
        "read_in": "code of others on GitHub; the name holds the first digits of the checksum",
    },
)
# The same weights, with the name of the released code and the present one of torchvision. Both names end with the first
# digits of the file's SHA-256.
WEIGHTS_WITH = {"weights=imagenet": ("resnet50-19c8e357.pth | resnet50-0676ba61.pth",)}
DOWNLOADED = True
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's channels, in [0, 1]


class ResNet50(Standardize):
    """Images (B,3,H,W) in [-1,1] -> representations (B,2048): the average of the last feature map."""

    dim = 2048
    saliency_layer = "layers.layer4"

    def __init__(self) -> None:
        super().__init__(None, MEAN, DEVIATION, kept=False)
        self.layers = resnet50()
        self.layers.fc = nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(super().forward(images))


def build(settings: Settings, input_shape: tuple[int, ...]) -> ResNet50:
    """With ImageNet weights or torchvision's random ones. Raises SettingError for inputs that are not (3,H,W)."""
    if len(input_shape) != 3 or input_shape[0] != 3:
        raise misfit("resnet50", "images of three channels", input_shape)
    network = ResNet50()
    if settings["weights"] == "imagenet":
        weights = {name: value for name, value in load_imagenet().items() if not name.startswith("fc.")}
        network.layers.load_state_dict(weights)
    return network


def load_imagenet() -> dict[str, Tensor]:
    """The weights trained on ImageNet, by name. Raises InputError for a file with another checksum."""
    path = fetch(WEIGHTS_WITH["weights=imagenet"][0], URL)
    require_checksum(path, path.stem.removeprefix("resnet50-"), f"Move it away. {remedy(path, URL)}")
    return torch.load(path, map_location="cpu", weights_only=True)
