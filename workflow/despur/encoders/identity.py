"""Samples that are embeddings already, unchanged."""

from torch import Tensor, nn

from despur.settings import SettingError, Settings

SETTINGS: dict[str, object] = {}


class Identity(nn.Module):
    """(B,D) -> (B,D)."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, embeddings: Tensor) -> Tensor:
        return embeddings


def build(settings: Settings, input_shape: tuple[int, ...]) -> Identity:
    """Raises SettingError for samples that are no vectors (D,)."""
    if len(input_shape) != 1:
        raise SettingError(f"identity takes embeddings, not samples of shape {input_shape}: choose another encoder, such as clip")
    return Identity(input_shape[0])
