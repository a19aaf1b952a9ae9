"""Zero-shot classification and group-informed prompting (Sec. 3.2 and 5.1 of Zhang & Re 2022): the class is that of
the nearest prompt.

The method reads the embeddings of a foundation model (``stage1``). Nothing is trained."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.encoders.identity import Identity
from despur.methods.families.embeddings import stage1_outputs
from despur.methods.families.fitted import FittedMethod
from despur.specs.hyperparameters import on_stage1
from despur.specs.settings import SettingError, choice, float_
from despur.specs.spec import Spec

SETTINGS = {
    **on_stage1("zero_shot", "last", "Sec. 3.2: a foundation model's embeddings of samples and class prompts"),
    "prompts": choice("class", "Eq. 3; group: those that name the attribute too (Sec. 5.1)", "class", "group"),
    "temperature": float_(0.01, "released code: tau of Eq. 3", above=0),
}


class NearestPrompt(nn.Module):
    """Eq. 3: the cosine of an embedding with the nearest prompt of each class over a temperature, (B,D) -> (B,C)."""

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.temperature = temperature
        self.register_buffer("prompts", torch.empty(0))  # (C,P,D)

    def forward(self, embeddings: Tensor) -> Tensor:
        return torch.einsum("bd,cpd->bcp", embeddings, self.prompts).amax(dim=2) / self.temperature

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *others: Any) -> None:
        # The number of prompts depends on the data, not on the settings.
        self.prompts = torch.empty_like(state[f"{prefix}prompts"])
        super()._load_from_state_dict(state, prefix, *others)


class Prompting(FittedMethod):
    """Embeddings as they are; the prompts are the classifier."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        (dim,) = shape
        return nn.ModuleDict({"encoder": Identity(dim), "head": NearestPrompt(spec.settings["temperature"])})

    def fit(self, rng: np.random.Generator) -> None:
        stage1 = stage1_outputs(self.task)
        prompts = stage1.head[:, None] if self.settings["prompts"] == "class" else stage1.group_prompts
        if prompts is None:
            raise SettingError(
                "prompts=group: this stage 1 has no prompts that name the attribute; prompts=class works"
            )
        self.networks["head"].load_state_dict({"prompts": torch.from_numpy(prompts)})
        self.networks.to(self.task.device)
