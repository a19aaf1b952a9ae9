"""A small image-text model, a substitute for CLIP (Radford et al. 2021) where nothing can be downloaded. It is
trained from random weights on captioned digit scenes, such as "a photo of a seven on water".

Its scenes are made of the training originals; it uses no label, background or scene of the task. In them, digits
below five are mostly on land and the others mostly on water. So, like CLIP's, its zero-shot predictions depend on
backgrounds. Its capacity is that of the encoder."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from despur.compute.input_batcher import InputBatcher
from despur.compute.task import PerSample
from despur.datasets.sources import text
from despur.datasets.sources.captions import LONGEST, VOCABULARY, captioned_scenes
from despur.encoders.base import build_encoder
from despur.losses.image_text import image_text_contrast
from despur.methods.base import GradientMethod, Losses
from despur.methods.families.prompted import Unit, cosine_head, hold_prompts
from despur.specs.hyperparameters import adam
from despur.specs.settings import SettingError, component, float_, int_
from despur.specs.spec import Spec
from despur.storage.store import Array

SETTINGS = {
    **adam(3e-3, 1e-4, epochs=8, source="bundled data: seconds on one core", batch_size=128),
    "encoder": component("encoders", "lenet", "bundled data; convnet with encoder.width=8 is worse on digits"),
    "dim": int_(64, "of the embeddings", at_least=2),
    "temperature": float_(
        0.1,
        "chosen of .07, where CLIP's learned one starts, .1 and .2: worse than .2 on minorities, as CLIP is",
        above=0,
    ),
    "scenes": int_(300, "of each digit; another number gives another model", at_least=1),
    "skew": float_(
        0.95, "share of a digit's scenes on its background: as the p_corr of scene_digits", at_least=0, at_most=1
    ),
    "named": float_(
        0.5, "share of captions that name the background; prompts of classes do not name it", at_least=0, at_most=1
    ),
}


class Words(nn.Module):
    """Numbers of words (B,T), 0 after the end of a text -> (B,dim): two layers on the mean of word vectors."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(text.FIRST + len(VOCABULARY), dim, padding_idx=text.PADDING)
        self.layers = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, dim))

    def forward(self, words: Tensor) -> Tensor:
        return self.layers(self.vectors(words).sum(dim=1) / (words > 0).sum(dim=1, keepdim=True))


class Tower(nn.Module):
    """An encoder and a projection: images -> unit-norm (B,dim)."""

    def __init__(self, encoder: nn.Module, dim: int) -> None:
        super().__init__()
        self.dim = dim
        self.layers = nn.Sequential(encoder, nn.Linear(int(encoder.dim), dim), Unit())  # type: ignore[arg-type]

    def forward(self, images: Tensor) -> Tensor:
        return self.layers(images)


class TwoTower(GradientMethod):
    """Embeddings of images and their captions attract each other; prompts of the task's classes then classify its
    images."""

    @staticmethod
    def build_networks(spec: Spec, shape: tuple[int, ...], num_classes: int) -> nn.ModuleDict:
        dim = spec.settings["dim"]
        return nn.ModuleDict({"encoder": Tower(build_encoder(spec, shape), dim), "head": cosine_head(dim, num_classes)})

    def setup(self) -> None:
        s, task = self.settings, self.task
        if "class_words" not in task.about:
            raise SettingError("two_tower has learned of digits on land and water: for other data, stage1=zero_shot")
        originals = np.asarray(task.about.get("captioned_originals", task.originals))
        images, self.captions = captioned_scenes(originals, s["scenes"], s["skew"], s["named"])
        self.scenes = InputBatcher(torch.from_numpy(images).to(task.device), task.about["size"], "image")
        self.networks["text"] = Words(s["dim"]).to(task.device)
        self.words = PerSample(self.tokens(self.captions))
        hold_prompts(self.networks, self.embed, task.about)

    def tokens(self, texts: list[str]) -> Tensor:
        return torch.from_numpy(text.tokens(texts, VOCABULARY, LONGEST)).long().to(self.task.device)

    def embed(self, texts: list[str]) -> Tensor:
        """Embeddings (K,dim) of texts, of any length."""
        return self.networks["text"](self.tokens(texts))

    def epoch_batches(self, rng: np.random.Generator) -> Iterator[Array]:
        """Shuffled scenes in whole batches. A different remainder is left out in each epoch."""
        order, size = rng.permutation(len(self.captions)), min(self.settings["batch_size"], len(self.captions))
        yield from order[: len(order) // size * size].reshape(-1, size)

    def read_ahead(self, batches: Sequence[Array]) -> Iterator[Array]:
        return self.scenes.read_ahead(batches)

    def losses(self, batch: Array, rng: np.random.Generator) -> Losses:
        images = self.networks["encoder"](self.scenes.batch(batch, rng))
        texts = normalize(self.networks["text"](self.words[batch]), dim=1)
        return {"loss": image_text_contrast(images, texts, self.settings["temperature"])}

    def before_eval(self, rng: np.random.Generator) -> None:
        """Set the head to the embeddings of the class and group prompts by the present text tower."""
        hold_prompts(self.networks, self.embed, self.task.about)
