"""ResNet-18 for small images (Qiang et al. 2022, Sec. 6.2): the first convolution is 3x3, as in the released code of
W-MSE."""

from torch import Tensor, nn
from torchvision.models import resnet18

from despur.encoders.base import misfit
from despur.specs.settings import Settings, bool_

SEED_CHUNK = 1
SETTINGS = {"pool": bool_(True, "W-MSE, released code: max-pooling after the first layer; not on CIFAR")}


class ResNet18(nn.Module):
    """Images (B,3,H,W) -> representations (B,512): the average of the last feature map."""

    dim = 512
    saliency_layer = "layers.layer4"

    def __init__(self, pool: bool) -> None:
        super().__init__()
        self.layers = resnet18()
        self.layers.conv1 = nn.Conv2d(3, 64, 3, padding=1, bias=False)
        nn.init.kaiming_normal_(self.layers.conv1.weight, mode="fan_out", nonlinearity="relu")  # as in torchvision
        if not pool:
            self.layers.maxpool = nn.Identity()
        self.layers.fc = nn.Identity()

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)


def build(settings: Settings, input_shape: tuple[int, ...]) -> ResNet18:
    """With torchvision's random weights. Raises SettingError for inputs that are not (3,H,W)."""
    if len(input_shape) != 3 or input_shape[0] != 3:
        raise misfit("resnet18", "images of three channels", input_shape)
    return ResNet18(settings["pool"])
