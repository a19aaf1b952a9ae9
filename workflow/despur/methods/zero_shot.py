"""A foundation model without training (Zhang & Re 2022, Sec. 3.2): unit-norm embeddings of every sample, and of the
prompts of every class.

Nothing is trained or drawn, so one folder serves all seeds. The model's weights are not copied into it
(DESPUR_WEIGHTS_ROOT). Logits are cosines; a method that reads them has its own temperature (tau of Eq. 3).
Deviation: the released code trains on embeddings of the length that the model gives them. Here all have length 1,
which changes no cosine, and ``length`` is saved beside them for what depends on it."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from despur.compute.embed_dataset import embed
from despur.compute.input_batcher import InputBatcher
from despur.compute.task import Task, encode
from despur.encoders.base import build_encoder
from despur.methods.base import Method
from despur.methods.families.prompted import Unit, cosine_head, hold_prompts, set_head
from despur.specs.settings import SettingError, choice, component
from despur.specs.spec import Spec
from despur.storage.store import Array, InputError

SEEDLESS = True
MEASURED_SAMPLES = 100  # training samples, at most, whose lengths are measured, all at once
SETTINGS = {
    "encoder": component(
        "encoders",
        "clip",
        "Sec. 3.2: CLIP and others; language_model: for texts; identity: for samples that are embeddings",
    ),
    "classes": choice(
        "prompts",
        "Sec. 3.2; given: the data set's class_embeddings; means: of each class's training embeddings, where "
        "there are no prompts",
        *("prompts", "given", "means"),
    ),
    "templates": choice(
        "class",
        "released code: one template a data set; others: that model's own, where it has one",
        *("class", "cloob", "gpt_neo", "gpt_neo_125m"),
    ),
}


class Frozen(nn.Module):
    """Unit-norm embeddings of a network that is never trained. Its weights are not saved with a run."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.hidden = (network.eval().requires_grad_(False),)  # a tuple: not registered, so not in the state
        self.unit, self.dim, self.vocabulary = Unit(), network.dim, getattr(network, "vocabulary", None)

    def _apply(self, *arguments: Any, **options: Any) -> "Frozen":
        self.hidden[0]._apply(*arguments, **options)
        return super()._apply(*arguments, **options)

    def embeddings(self, samples: Tensor) -> Tensor:
        """Embeddings (B,D) of the length that the network gives them."""
        return self.hidden[0](samples)

    def forward(self, samples: Tensor) -> Tensor:
        return self.unit(self.embeddings(samples))


class ZeroShot(Method):
    """The class is that of the nearest class embedding (Eq. 3)."""

    def __init__(self, task: Task, spec: Spec) -> None:
        super().__init__(task, spec)
        self.networks.register_buffer("length", self.length())
        {"prompts": self.from_prompts, "given": self.from_data, "means": self.from_means}[spec.settings["classes"]]()

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        encoder = Frozen(build_encoder(spec, shape))
        width = int(encoder.dim)  # type: ignore[arg-type]
        return nn.ModuleDict({"encoder": encoder, "head": cosine_head(width, num_classes)})

    @torch.no_grad()
    def length(self) -> Tensor:
        """Root mean square length of embeddings, of training samples evenly spaced."""
        batcher, encoder = self.task.batcher, self.networks["encoder"].eval()
        rows = np.linspace(0, len(batcher) - 1, min(MEASURED_SAMPLES, len(batcher))).astype(int)
        embedded = encoder.embeddings(batcher.batch(rows, np.random.default_rng(0)))  # type: ignore[operator]
        return embedded.float().square().sum(dim=1).mean().sqrt()

    def from_prompts(self) -> None:
        network = self.networks["encoder"].hidden[0]  # type: ignore[index]
        if not hasattr(network, "texts"):
            raise SettingError(
                f"encoder={self.spec.components['encoder'].base_name} embeds no prompts: classes=given or "
                "classes=means (of stage 1: stage1.classes)"
            )
        hold_prompts(self.networks, network.texts, self.task.about, self.settings["templates"])

    def from_data(self) -> None:
        given, shape = self.task.class_embeddings, tuple(self.networks["head"].weight.shape)  # type: ignore[arg-type]
        if given is None:
            raise InputError(
                f"{self.task.about['dataset']} has no class_embeddings (classes, dimensions), so nothing is "
                "predicted without training. "
                "Add them to the data (a .npz can hold them, a .parquet cannot), or let each class be the mean "
                "of its training samples: by "
                "METHOD+stage1.classes=means, where a method reads this as its stage 1, or by zero_shot+classes=means"
            )
        if given.shape != shape:
            raise InputError(
                f"{self.task.about['dataset']}: class_embeddings are {given.shape}, but classes and embeddings "
                f"say {shape}"
            )
        set_head(self.networks["head"], torch.from_numpy(given))  # type: ignore[arg-type]

    def from_means(self) -> None:
        z = encode(self.networks["encoder"], None, self.task.batcher, np.random.default_rng(0))["z"].astype(np.float32)
        means = [z[self.task.y == label].mean(axis=0) for label in range(self.task.num_classes)]
        set_head(self.networks["head"], torch.from_numpy(np.stack(means)))  # type: ignore[arg-type]

    def metadata(self) -> dict[str, Any]:
        network: nn.Module = self.networks["encoder"].hidden[0]  # type: ignore[index, assignment]
        return {"model_parameters": sum(p.numel() for p in network.parameters())}

    def outputs(self, batcher: InputBatcher, rng: np.random.Generator, checkpoint: Path) -> dict[str, Array]:
        """Cosines, float32, are computed from the saved embeddings, float16."""
        z = embed(self.networks["encoder"], batcher, checkpoint, rng)
        head = self.networks["head"].weight.detach().cpu().numpy().T  # type: ignore[operator]
        return {"z": z, "logits": z.astype(np.float32) @ head}
