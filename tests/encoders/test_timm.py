"""Models of timm: small ones with random weights; no download."""

import pytest
import timm
import torch
import torchvision
from safetensors.torch import save_file
from torchvision.transforms import Normalize

from despur.encoders import timm as encoder
from despur.specs.settings import SettingError
from despur.storage.store import InputError

SETTINGS = {"weights": "pretrained", "size": 0}
SHAPE = (3, 40, 40)


def build(model, shape=SHAPE, **settings):
    return encoder.build(SETTINGS | {"model": model} | settings, shape).eval()


@pytest.fixture
def saved(offline):
    """Writes a model's weights to where they are looked for; returns the model."""

    def save(model, file="{model}.safetensors", **options):
        torch.manual_seed(0)
        network = timm.create_model(model, **options)
        (offline / "timm" / file.format(model=model)).parent.mkdir(parents=True, exist_ok=True)
        save_file(network.state_dict(), offline / "timm" / file.format(model=model))
        return network.eval()

    return save


@torch.no_grad()
@pytest.mark.parametrize("model", ["test_vit", "test_vit3", "test_convnext", "test_resnet", "test_efficientnet"])
def test_representations_are_what_the_classifier_reads_of_images_as_timm_prepares_them(saved, model):
    network = saved(model, num_classes=5)
    found = build(model)
    images = torch.rand(2, 3, *network.pretrained_cfg["input_size"][1:])
    mean, std = (torch.tensor(network.pretrained_cfg[key]).view(1, 3, 1, 1) for key in ("mean", "std"))
    z = network.forward_head(network.forward_features((images - mean) / std), pre_logits=True)
    torch.testing.assert_close(found(2 * images - 1), z, rtol=1e-4, atol=1e-4)
    assert found(torch.zeros(1, *SHAPE)).shape == (1, found.dim)  # images of any size
    assert z.shape[1] == found.dim


@torch.no_grad()
@pytest.mark.parametrize("model", ["resnet18", "resnet50"])
def test_torchvision_s_own_file_gives_torchvision_s_representations(offline, model):
    network = torchvision.models.get_model(model, weights=None).eval()
    file = offline / f"timm/{model}.tv_in1k.pth"
    file.parent.mkdir(parents=True)
    torch.save(network.state_dict(), file)
    network.fc = torch.nn.Identity()
    images = torch.rand(2, 3, 224, 224)
    standardized = Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))(images)
    torch.testing.assert_close(build(f"{model}.tv_in1k")(2 * images - 1), network(standardized), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_positions_of_a_transformer_follow_the_size(saved):
    saved("test_vit", num_classes=0)
    small = build("test_vit", size=32)
    assert small.network.patch_embed.img_size == (32, 32) and small(torch.zeros(1, *SHAPE)).shape == (1, small.dim)
    dino = build("vit_small_patch14_dinov2", weights="random", size=28)
    assert dino(torch.zeros(1, *SHAPE)).shape == (1, dino.dim) == (1, 384)


def test_missing_weights_are_told_with_their_place_and_address(offline):
    with pytest.raises(InputError, match=r"timm/test_vit/model\.safetensors is not there.*co/timm/test_vit.*--COMMIT"):
        build("test_vit")
    commit = 40 * "a"
    with pytest.raises(InputError, match=rf"timm/test_vit[^/]*/resolve/{commit}/model.safetensors"):
        build(f"test_vit--{commit}")


def test_weights_of_another_model_are_refused(saved, offline):
    saved("test_vit", "test_vit2.safetensors")
    with pytest.raises(InputError, match=r"test_vit2\.safetensors does not hold the weights of test_vit2"):
        build("test_vit2")
    network = timm.create_model("test_vit2", num_classes=0)
    weights = {name: value for name, value in network.state_dict().items() if "blocks.1" not in name}
    save_file(weights, offline / "timm/test_vit2.safetensors")
    with pytest.raises(InputError, match=r"test_vit2 \(.*Missing key"):
        build("test_vit2")
    (offline / "timm/test_vit2.safetensors").write_text("<html>404</html>")
    with pytest.raises(InputError, match="does not hold the weights"):
        build("test_vit2")


def test_other_inputs_and_unknown_models_are_refused():
    with pytest.raises(SettingError, match="timm takes images of three channels"):
        build("test_vit", (300,))
    with pytest.raises(SettingError, match=r"unknown model of timm 'vit_smal.*did you mean vit_small_patch16_224"):
        build("vit_smal_patch16_224")
