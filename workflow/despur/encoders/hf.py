"""Any text or image model of the Hugging Face hub that transformers knows (Wolf et al. 2020): DistilBERT, ViT, DINOv2,
ConvNeXt and many others.

The files that the hub has of a model, or that transformers' ``save_pretrained`` writes, lie in the folder ``hf/MODEL``
of DESPUR_WEIGHTS_ROOT: ``config.json``, ``model.safetensors``; of image models ``preprocessor_config.json``, of text
models those of the tokenizer. The slash of a name of the hub is written ``--``: ``model=google--vit-base-patch16-224``.
They are downloaded only for a model with a commit: ``model=distilbert-base-uncased--COMMIT``.

Texts must be stored as tokens of the same model: ``civilcomments+vocabulary=MODEL``."""

import inspect
import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from despur.encoders.base import load_transformer, misfit
from despur.encoders.language_model import LanguageModel
from despur.numerics.pixels import Standardize
from despur.specs.settings import SettingError, Settings, choice, name
from despur.storage.hub import address, find_hub_file
from despur.storage.pretrained import remedy
from despur.storage.reading import InputError

SEED_CHUNK = 1
SETTINGS = {
    "model": name("distilbert-base-uncased", "ours; any model of the hub, / written --, with a commit or without"),
    "weights": choice("pretrained", "ours; random: those that transformers draws", "pretrained", "random"),
    "pooling": choice(
        "by_kind",
        "ours: texts: the mean of the tokens; images: what the model itself pools without further layers, else the "
        "first token, or the mean of a map",
        *("by_kind", "mean", "first_token"),
    ),
}
WEIGHTS = ("hf/{model}/config.json",)
WEIGHTS_WITH = {
    "weights=pretrained": (
        "hf/{model}/model*.safetensors | hf/{model}/pytorch_model*.bin | hf/{model}/model.safetensors",
        "hf/{model}/preprocessor_config.json | hf/{model}/config.json",
    )
}
DOWNLOADED = "model=*--" + 40 * "[0-9a-f]"
FILES = (
    "hf/{model}/model.safetensors.index.json | hf/{model}/pytorch_model.bin.index.json | "
    "hf/{model}/pytorch_model.bin | hf/{model}/model.safetensors"
)


class Images(nn.Module):
    """Images (B,3,H,W) in [-1,1] -> representations (B,dim)."""

    def __init__(self, network: Any, pixels: Standardize, pooling: str) -> None:
        super().__init__()
        self.network, self.pixels, self.pooling = network, pixels, pooling
        config = network.config
        self.dim = int(getattr(config, "hidden_size", None) or config.hidden_sizes[-1])

    def forward(self, images: Tensor) -> Tensor:
        outputs = self.network(self.pixels(images))
        states, pooled = outputs.last_hidden_state, getattr(outputs, "pooler_output", None)
        if self.pooling == "by_kind" and pooled is not None:
            return pooled.flatten(1)
        if states.ndim == 4:  # a map (B,dim,H,W) has no first token
            return states.mean(dim=(2, 3))
        return states.mean(dim=1) if self.pooling == "mean" else states[:, 0]


def build(settings: Settings, input_shape: tuple[int, ...]) -> nn.Module:
    """A model for tokens (T,) or images (3,H,W), as the samples are. Raises SettingError for other inputs and models of
    another kind, InputError for files that are missing or do not fit."""
    model, pooling = settings["model"], settings["pooling"]
    if len(input_shape) not in (1, 3) or (len(input_shape) == 3 and input_shape[0] != 3):
        raise misfit("hf", "tokens, and images of three channels", input_shape)
    network = load_network(model, settings["weights"] == "random")
    if len(input_shape) == 1:
        tower = getattr(network, "text_model", network)
        if not hasattr(tower.config, "vocab_size"):
            raise SettingError(f"encoder.model={model} reads no texts: it is a {type(network).__name__}")
        read_by = tower.get_encoder() if getattr(tower.config, "is_encoder_decoder", False) else tower
        return LanguageModel(read_by, model, "mean" if pooling == "by_kind" else pooling)
    tower = getattr(network, "vision_model", network)
    if not hasattr(tower.config, "num_channels"):
        raise SettingError(f"encoder.model={model} sees no images: it is a {type(network).__name__}")
    return Images(tower, read_pixels(model, tower.config, settings["weights"] == "random"), pooling)


def load_network(model: str, random: bool) -> Any:
    """The model that ``config.json`` describes, without a pooler of its own: files often lack its weights."""
    from transformers import MODEL_MAPPING, AutoConfig

    path = find_hub_file(f"hf/{model}/config.json", model)
    try:
        config = AutoConfig.from_pretrained(str(path.parent), local_files_only=True)
        network: Any = MODEL_MAPPING[type(config)]
    except Exception as error:  # KeyError, ValueError, OSError: a model that transformers does not know
        raise InputError(
            f"{path} describes no model that transformers knows ({error}). {remedy(path, address(model))}"
        ) from error
    poolers = inspect.signature(network.__init__).parameters.keys() & {"add_pooling_layer"}
    options = dict.fromkeys(poolers, False)
    if random:
        return network(config, **options)
    weights = find_hub_file(FILES.format(model=model), model)
    return load_transformer(network, weights, address(model), config=config, **options)


def read_pixels(model: str, config: Any, random: bool) -> Standardize:
    """How a model wants its images: of the size that its configuration states, else as large as they are. With random
    weights, they stay between -1 and 1."""
    side: Any = getattr(config, "image_size", None)
    size = (side, side) if isinstance(side, int) else tuple(side) if side else None
    if random:
        return Standardize(size, 3 * [0.5], 3 * [0.5])
    path: Path = find_hub_file(f"hf/{model}/preprocessor_config.json", model)
    try:
        preprocessor = json.loads(path.read_text())
        return Standardize(size, preprocessor["image_mean"], preprocessor["image_std"])
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise InputError(
            f"{path} does not state image_mean and image_std ({error}). {remedy(path, address(model))}"
        ) from error
