"""NewEncoder (authors and year): a linear layer and a ReLU on flat inputs."""

import math

from torch import Tensor, nn

from despur.specs.settings import Settings, int_

SEED_CHUNK = 5  # how many seeds one job trains

SETTINGS = {"width": int_(64, "the section of the paper that states it", at_least=1)}


class NewEncoder(nn.Module):
    """Samples (B,...) -> representations (B,width)."""

    def __init__(self, settings: Settings, inputs: int) -> None:
        super().__init__()
        self.dim = settings["width"]  # of a representation
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(inputs, self.dim), nn.ReLU())

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layers(inputs)


def build(settings: Settings, input_shape: tuple[int, ...]) -> NewEncoder:
    """``input_shape``: of one sample."""
    return NewEncoder(settings, math.prod(input_shape))
