"""Embeddings, unchanged."""

from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import Settings

SETTINGS: dict[str, object] = {}


class Identity(nn.Module):
    """Embeddings (B,D), unchanged."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, embeddings: Tensor) -> Tensor:
        return embeddings


def build(settings: Settings, input_shape: tuple[int, ...]) -> Identity:
    """Raises SettingError for inputs that are not vectors (D,)."""
    if len(input_shape) != 1:
        raise misfit("identity", "embeddings", input_shape, images="clip takes images")
    return Identity(input_shape[0])
