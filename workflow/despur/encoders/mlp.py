"""Fully-connected layers on vectors such as embeddings (Shen et al. 2021: Enc, two layers of 300)."""

import itertools
import math

from torch import Tensor, nn

from despur.specs.settings import Settings, choice, float_, int_

SEED_CHUNK = 5

SETTINGS = {
    "hidden": int_(300, "Experiments: hidden size", at_least=1),
    "layers": int_(2, "Experiments: fully-connected layers", at_least=1),
    "activation": choice("tanh", "released code", "tanh", "relu"),
    "dropout": float_(0.0, "released code: declares 0.5, but does not use it", at_least=0, below=1),
}


class MLP(nn.Module):
    """Inputs (B,...), flattened -> representations (B,hidden): the last activations."""

    vectors = True  # or images, but no tokens

    def __init__(self, settings: Settings, inputs: int) -> None:
        super().__init__()
        self.dim = settings["hidden"]
        activation = {"tanh": nn.Tanh, "relu": nn.ReLU}[settings["activation"]]
        sizes = [inputs] + [self.dim] * settings["layers"]
        layers: list[nn.Module] = []
        for m, n in itertools.pairwise(sizes):
            layers += [nn.Linear(m, n), activation(), nn.Dropout(settings["dropout"])]
        self.layers = nn.Sequential(*layers)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layers(inputs.flatten(1))


def build(settings: Settings, input_shape: tuple[int, ...]) -> MLP:
    """With PyTorch's default initialization, for inputs of any shape."""
    return MLP(settings, math.prod(input_shape))
