"""LeNet-5 of the PyTorch image classification tutorial, for 3x32x32 images (Zhang et al. 2022, App. E.2.2)."""

from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import Settings

SEED_CHUNK = 5
LARGER = (  # what to do about larger images
    "size=32 of the data set, if it has this setting: photographs (celeba, waterbirds, ...) are resized to it; "
    "bring_your_own+resize=32 resizes images of a folder, but only crops those of arrays; convnet takes images of any "
    "form"
)


class LeNet(nn.Module):
    """Images (B,3,32,32) -> representations (B,84): the last hidden layer, after its ReLU."""

    dim = 84
    saliency_layer = "layers.5"  # the second convolution, after pooling and ReLU: a map of 5x5, 4 pixels apart,
    saliency_margin = 6  # over the central 20x20 pixels, since there is no padding

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 6, 5), nn.MaxPool2d(2), nn.ReLU(),  # pooling before ReLU: the same function, less work
            nn.Conv2d(6, 16, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
            nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
        )  # fmt: skip

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)


def build(settings: Settings, input_shape: tuple[int, ...]) -> LeNet:
    """With PyTorch's default initialization. Raises SettingError for inputs that are not (3,32,32)."""
    if input_shape != (3, 32, 32):
        larger = {"images": LARGER} if input_shape[0] == 3 and min(input_shape[1:], default=0) > 32 else {}
        raise misfit("lenet", "images of 3x32x32", input_shape, **larger)
    return LeNet()
