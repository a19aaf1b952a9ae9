"""Any image model of timm (Wightman 2019): ViT, ConvNeXt, DINOv2 and some thousand others.

Weights lie in the folder DESPUR_WEIGHTS_ROOT as ``timm/MODEL.safetensors`` or ``.pth``, in the form in which timm
saves them; or, as on the hub, as ``timm/MODEL/model.safetensors``. They are downloaded there only for a model with a
commit: ``model=vit_small_patch14_dinov2.lvd142m--COMMIT``."""

from difflib import get_close_matches
from typing import Any

from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.numerics.pixels import Standardize
from despur.specs.names import unknown
from despur.specs.settings import Settings, choice, int_, name
from despur.storage.hub import address, find_hub_file, split_commit
from despur.storage.pretrained import remedy, weights_root
from despur.storage.reading import InputError

SEED_CHUNK = 1
SETTINGS = {
    "model": name("vit_small_patch16_224", "ours; any name of timm, with a tag of weights and a commit or without"),
    "weights": choice("pretrained", "ours; random: those that timm draws", "pretrained", "random"),
    "size": int_(0, "ours: the side, in pixels, that images are made; 0: as the weights were trained", at_least=0),
}
WEIGHTS_WITH = {
    "weights=pretrained": (
        "timm/{model}.safetensors | timm/{model}.pth | timm/{model}/pytorch_model.bin | timm/{model}/model.safetensors",
    )
}
DOWNLOADED = "model=*--" + 40 * "[0-9a-f]"


class Timm(nn.Module):
    """Images (B,3,H,W) in [-1,1] -> representations (B,dim): what the model's classifier would read."""

    def __init__(self, network: Any, size: tuple[int, int]) -> None:
        super().__init__()
        config = network.pretrained_cfg
        self.network, self.pixels = network, Standardize(size, config["mean"], config["std"])
        self.dim = int(getattr(network, "head_hidden_size", None) or network.num_features)

    def forward(self, images: Tensor) -> Tensor:
        return self.network(self.pixels(images))


def build(settings: Settings, input_shape: tuple[int, ...]) -> Timm:
    """A model of timm without its classifier, for images (3,H,W). Raises SettingError for other inputs and unknown
    models, InputError for weights that are missing or do not fit."""
    model, side = settings["model"], settings["size"]
    if len(input_shape) != 3 or input_shape[0] != 3:
        raise misfit("timm", "images of three channels", input_shape)
    import timm

    architecture, commit = split_commit(model)
    if not timm.is_model(architecture):
        raise unknown("model of timm", architecture, get_close_matches(architecture, timm.list_models(), 9, 0.4))
    config: Any = timm.get_pretrained_cfg(architecture)
    options = {"img_size": side} if side and config.fixed_input_size else {}
    if settings["weights"] == "random":
        network = timm.create_model(architecture, num_classes=0, **options)
    else:
        repository = (config.hf_hub_id or f"timm/{architecture}").replace("/", "--")
        network = load(model, f"{repository}--{commit}" if commit else repository, options)
    return Timm(network, (side, side) if side else config.input_size[1:])


def load(model: str, hub_name: str, options: dict[str, Any]) -> Any:
    """A model with all the weights of its file, less the classifier that the file may hold. ``hub_name``: of the
    weights on the hub."""
    import timm

    architecture, _ = split_commit(model)
    pattern = WEIGHTS_WITH["weights=pretrained"][0].format(model=model)
    path = find_hub_file(pattern, hub_name)
    try:
        weights = timm.models.load_state_dict(str(path))
        classifier: Any = timm.get_pretrained_cfg(architecture).classifier
        first = classifier if isinstance(classifier, str) else next(iter(classifier or ()), "")  # some have two
        head = weights.get(f"{first}.weight")
        given = {"state_dict": weights, "num_classes": 0 if head is None else len(head)}
        network: Any = timm.create_model(
            architecture, pretrained=True, num_classes=given["num_classes"], pretrained_cfg_overlay=given, **options
        )
    except Exception as error:  # timm, torch and safetensors have errors of their own
        told, place = " ".join(str(error).split()), weights_root() / pattern.rpartition(" | ")[2]
        raise InputError(
            f"{path} does not hold the weights of {architecture} ({told}). {remedy(place, address(hub_name))}"
        ) from error
    del network.pretrained_cfg["state_dict"]
    network.reset_classifier(0)
    return network
