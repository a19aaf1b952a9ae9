"""CLIP with models and weights of open_clip, and CLOOB, for images and prompts (Zhang & Re 2022, Sec. 3.2, Tables 3
and 4).

Weights lie under ``clip/`` in the folder DESPUR_WEIGHTS_ROOT. Missing ones are downloaded there:

- ``RN50.pt``, ``ViT-L-14.pt``, ...: OpenAI's own files, with checkpoint=openai
- ``MODEL-CHECKPOINT/open_clip_model.safetensors`` or ``open_clip_pytorch_model.bin``: from the Hugging Face hub
- ``cloob_rn50_yfcc_epoch_28.pt``, ``cloob_rn50x4_yfcc_epoch_28.pt``: with checkpoint=cloob
"""

from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.numerics.pixels import Standardize
from despur.specs.settings import SettingError, Settings, name
from despur.storage.pretrained import HUB, fetch, remedy, weights_root
from despur.storage.raw_files import require_checksum
from despur.storage.store import InputError

SEED_CHUNK = 5
SETTINGS = {
    "model": name(
        "RN50", "Tables 1, 3: RN50, ViT-L-14; Table 4: RN101, ViT-B-32, ViT-B-16, RN50x4; others of open_clip"
    ),
    "checkpoint": name(
        "openai", "Sec. 3.2: CLIP's weights; cloob: CLOOB's; random: none; or any tag of open_clip for the model"
    ),
}

DOWNLOADS = (
    *(  # addresses hold the checksums
        {
            "url": f"https://openaipublic.azureedge.net/clip/models/{sha256}/{model}{pixels}.pt",
            "file": f"clip/{model}{pixels}.pt",
            "only_with": f"checkpoint=openai model={model}",
            "checksum": f"sha256:{sha256}",
            "license": "MIT (OpenAI)",
            "read_in": "openai/CLIP, clip/clip.py; open_clip, pretrained.py",
        }
        for model, pixels, sha256 in (
            ("RN50", "", "afeb0e10f9e5a86da6080e35cf09123aca3b358a0c3e3b6c78a7b63bc04b6762"),
            ("RN101", "", "8fa8567bab74a42d41c5915025a8e4538c3bdbe8804a470a72f30b0d94fab599"),
            ("RN50x4", "", "7e526bd135e493cef0776de27d5f42653e6b4c8bf9e0f653bb11773263205fdd"),
            ("RN50x16", "", "52378b407f34354e150460fe41077663dd5b39c54cd0bfd2b27167a4a06ec9aa"),
            ("RN50x64", "", "be1cfb55d75a9666199fb2206c106743da0f6468c9d327f3e0d0a543a9919d9c"),
            ("ViT-B-32", "", "40d365715913c9da98579312b702a82c18be219cc2a73407c4526f58eba950af"),
            ("ViT-B-16", "", "5806e77cd80f8b59890b7e101eabd078d9fb84e6937f9e85e4ecb61988df416f"),
            ("ViT-L-14", "", "b8cca3fd41ae0c99ba7e8951adf17d267cdb84cd88be6f7c2e0eca1737a03836"),
            ("ViT-L-14-336", "px", "3035c92b350959924f9f00213499208652fc7ea050643e8b385c2dac08641f02"),
        )
    ),
    *(
        {
            "url": f"https://ml.jku.at/research/CLOOB/downloads/checkpoints/cloob_{file}_yfcc_epoch_28.pt",
            "file": f"clip/cloob_{file}_yfcc_epoch_28.pt",
            "only_with": f"checkpoint=cloob model={model}",
            "license": "not stated",
            "read_in": "code of others on GitHub",
        }
        for model, file in (("RN50", "rn50"), ("RN50x4", "rn50x4"))
    ),
)
WEIGHTS_WITH = {
    "checkpoint=random": (),
    "checkpoint=cloob model=RN50": ("clip/cloob_rn50_yfcc_epoch_28.pt",),
    "checkpoint=cloob": ("clip/cloob_rn50x4_yfcc_epoch_28.pt",),
    "checkpoint=openai": (
        "clip/{model}.pt | clip/{model}px.pt | clip/{model}-{checkpoint}/open_clip_pytorch_model.bin | "
        "clip/{model}-{checkpoint}/open_clip_model.safetensors",
    ),
    "checkpoint=*": (
        "clip/{model}-{checkpoint}/open_clip_pytorch_model.bin | clip/{model}-{checkpoint}/open_clip_model.safetensors",
    ),
}
DOWNLOADED = True
CLOOB = "https://ml.jku.at/research/CLOOB/downloads/checkpoints/"
OTHER = {"custom_text", "multimodal_cfg", "hf_model_name", "hf_tokenizer_name"}  # in configurations of other models
PIXELS = {"mean": open_clip.OPENAI_DATASET_MEAN, "std": open_clip.OPENAI_DATASET_STD}


class CLIP(Standardize):
    """Images (B,3,H,W) in [-1,1] -> embeddings (B,dim). Images of another size are resized bicubically to that of the
    model."""

    def __init__(self, network: Any, tokenizer: Any, pixels: dict[str, Any]) -> None:
        side = network.visual.image_size
        super().__init__(side if isinstance(side, tuple) else (side, side), pixels["mean"], pixels["std"])
        self.network, self.tokenizer, self.dim = network, tokenizer, int(network.text_projection.shape[-1])

    def forward(self, images: Tensor) -> Tensor:
        return self.network.encode_image(super().forward(images))

    def texts(self, prompts: list[str]) -> Tensor:
        """Embeddings (K,dim) of prompts."""
        return self.network.encode_text(self.tokenizer(prompts).to(self.get_buffer("shift").device))


def build(settings: Settings, input_shape: tuple[int, ...]) -> CLIP:
    """CLIP for images (3,H,W). Raises SettingError for other inputs and unknown names, InputError for weights that are
    missing or do not fit."""
    model, checkpoint = settings["model"], settings["checkpoint"]
    if len(input_shape) != 3 or input_shape[0] != 3:
        vectors, images = "identity takes embeddings, language_model and sentence tokens", "or bring images in colors"
        raise misfit("clip", "images of three channels", input_shape, vectors, images)
    if model not in (readable := list_models()):
        raise SettingError(
            f"encoder.model={model}: of open_clip, models with CLIP's own text network and words are read: "
            f"{', '.join(readable)}"
        )
    source = open_clip.get_pretrained_cfg(model, checkpoint)
    if checkpoint == "random":
        network = open_clip.create_model(model)
    elif checkpoint == "cloob":
        network = load_cloob(model)
    elif source:
        network = load_clip(model, checkpoint, source)
    else:
        weights_there = ", ".join([*open_clip.pretrained.list_pretrained_tags_by_model(model), "cloob", "random"])
        raise SettingError(f"encoder.checkpoint={checkpoint}: of {model}, open_clip has {weights_there}")
    return CLIP(network, open_clip.get_tokenizer(model), PIXELS | source)


def list_models() -> list[str]:
    """The models of open_clip that are read here: those with CLIP's own text network, whose words open_clip brings."""
    configurations = {name: open_clip.get_model_config(name) for name in open_clip.list_models()}
    return [
        name
        for name, content in configurations.items()
        if not (OTHER & content.keys() or OTHER & content["text_cfg"].keys())
    ]


def load_clip(model: str, checkpoint: str, source: dict[str, Any]) -> nn.Module:
    """A model of open_clip with the weights of OpenAI's own file if it exists, else with those of the hub. ``source``:
    open_clip's configuration of these weights."""
    file = weights_root() / "clip" / Path(source["url"]).name
    if checkpoint == "openai" and file.exists():
        require_checksum(file, Path(source["url"]).parent.name, f"Move it away. Put {source['url']} there")
        return open_clip.load_openai_model(str(file), "fp32", "cpu")
    url = f"{HUB}{source['hf_hub'].rstrip('/')}/resolve/main/"
    path = fetch(WEIGHTS_WITH["checkpoint=*"][0].format(model=model, checkpoint=checkpoint), url)
    network = open_clip.create_model(model, force_quick_gelu=bool(source.get("quick_gelu")))
    try:
        open_clip.load_checkpoint(network, str(path))
    except Exception as error:  # torch and safetensors have errors of their own
        raise InputError(f"{path} does not hold the weights of {model} ({error}). {remedy(path, url)}") from error
    return network


def load_cloob(model: str) -> nn.Module:
    """CLOOB: the same two networks under other names, without CLIP's temperature. These names are those of the model
    class in the released code of Zhang & Re 2022, which reads the file strictly. Renamed, they are all of open_clip's,
    and both networks give the same embeddings."""
    path = fetch(f"clip/cloob_{model.lower()}_yfcc_epoch_28.pt", CLOOB)
    network = open_clip.create_model(model, force_quick_gelu=True)
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)["state_dict"]
        weights = {name.removeprefix("module.").removeprefix("transformer."): value for name, value in state.items()}
        weights["logit_scale"] = network.state_dict()["logit_scale"]
        network.load_state_dict({name: weights[name] for name in network.state_dict()})
    except Exception as error:  # torch and safetensors have errors of their own
        raise InputError(f"{path} does not hold CLOOB's {model} ({error}). {remedy(path, CLOOB)}") from error
    return network
