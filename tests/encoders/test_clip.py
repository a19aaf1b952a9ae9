"""CLIP: the real code of open_clip on tiny random models; no download."""

from importlib import import_module

import open_clip
import pytest
import torch
from safetensors.torch import save_file
from tiny_clip import add_models, tiny

from despur.encoders import clip
from despur.specs.resolution import resolve
from despur.specs.settings import SettingError
from despur.storage.raw_files import sha256
from despur.storage.store import InputError


@pytest.fixture(scope="module", autouse=True)
def models(tmp_path_factory):
    add_models(tmp_path_factory.mktemp("configs"))


def same(a, b):
    """Both embed the same images and prompts alike."""
    images = 2 * torch.rand(3, 3, *a.size, generator=torch.Generator().manual_seed(1)) - 1
    with torch.no_grad():
        return torch.allclose(a(images), b(images), atol=1e-5) and torch.allclose(
            a.texts(["a cat"]), b.texts(["a cat"]), atol=1e-5
        )


@torch.no_grad()
def test_clip_sees_images_as_clip_presents_them():
    network = tiny()
    pixels = torch.rand(2, 3, 24, 24, generator=torch.Generator().manual_seed(0))
    mean, deviation = (
        torch.tensor(v).view(1, 3, 1, 1) for v in (open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD)
    )
    expected = network.network.encode_image((pixels - mean) / deviation)
    torch.testing.assert_close(network(2 * pixels - 1), expected, rtol=1e-4, atol=1e-5)
    assert expected.shape == (2, network.dim) == (2, 16)


@torch.no_grad()
def test_images_of_another_size_are_resized_to_the_models():
    network = tiny()
    flat = torch.tensor([0.3, -0.2, 0.9]).view(1, 3, 1, 1).expand(1, 3, 32, 32)
    torch.testing.assert_close(network(flat), network(flat[..., :24, :24]), rtol=1e-4, atol=1e-4)


@torch.no_grad()
def test_prompts_are_tokenised_as_clip_does():
    network = tiny()
    tokens = open_clip.tokenize(["a photo of a cat", "two dogs"], context_length=16)
    torch.testing.assert_close(network.texts(["a photo of a cat", "two dogs"]), network.network.encode_text(tokens))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"model": "ViT-Q", "checkpoint": "openai"},
            "encoder.model=ViT-Q: of open_clip, models with CLIP's own text network and words are read: .*ViT-B-32",
        ),
        *(
            ({"model": model, "checkpoint": "random"}, f"model={model}: of open_clip, .*convnext_base, .*ViT-B-32")
            for model in ("coca_ViT-B-32", "ViT-B-16-SigLIP", "roberta-ViT-B-32", "ViTamin-S", "EVA02-B-16")
        ),
        (
            {"model": "RN50", "checkpoint": "opanai"},
            "encoder.checkpoint=opanai: of RN50, open_clip has openai, yfcc15m, cc12m, cloob, random",
        ),
    ],
)
def test_unknown_models_and_weights_are_errors_that_say_what_exists(settings, words):
    with pytest.raises(SettingError, match=words):
        clip.build(settings, (3, 224, 224))


@pytest.mark.parametrize("encoder", ["clip", "language_model", "sentence", "identity"])
def test_encoders_refuse_what_they_cannot_embed(encoder):
    point = resolve("encoders", encoder).points[0]
    with pytest.raises(SettingError, match=rf"{encoder} takes .*, not images of 5x7: .*\+encoder=NAME"):
        import_module(f"despur.encoders.{encoder}").build(point.settings, (5, 7))


@pytest.mark.parametrize(
    ("checkpoint", "file", "url"),
    [
        (
            "openai",
            "clip/RN50-openai/open_clip_model.safetensors",
            "https://huggingface.co/timm/resnet50_clip.openai/resolve/main/",
        ),
        ("cloob", "clip/cloob_rn50_yfcc_epoch_28.pt", "https://ml.jku.at/research/CLOOB/downloads/checkpoints/"),
    ],
)
def test_missing_weights_say_where_to_put_which_file(offline, checkpoint, file, url):
    with pytest.raises(InputError) as error:
        clip.build({"model": "RN50", "checkpoint": checkpoint}, (3, 224, 224))
    for word in (str(offline / file), url + file.rpartition("/")[2], "DESPUR_WEIGHTS_ROOT"):
        assert word in str(error.value)


def publish(monkeypatch, **published):
    monkeypatch.setattr(open_clip, "get_pretrained_cfg", lambda model, tag: published if tag == "openai" else {})


def test_weights_of_the_hub_are_read_from_a_local_file(offline, monkeypatch):
    publish(
        monkeypatch, hf_hub="org/tiny/", url="https://x/0123/tiny-vit.pt", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)
    )
    network = tiny(seed=3)
    folder = offline / "clip/tiny-vit-openai"
    folder.mkdir(parents=True)
    save_file(
        {name: value.contiguous() for name, value in network.network.state_dict().items()},
        folder / "open_clip_model.safetensors",
    )
    found = tiny(checkpoint="openai", seed=4)
    # the published mean and deviation
    assert found.get_buffer("shift").abs().max() == 0 and found.get_buffer("scale").unique().item() == 1
    found.shift, found.scale = network.get_buffer("shift"), network.get_buffer("scale")
    assert same(network, found) and not same(network, tiny(seed=4))
    save_file({"text_projection": torch.zeros(2, 2)}, folder / "open_clip_model.safetensors")
    with pytest.raises(InputError, match="does not hold the weights of tiny-vit"):
        tiny(checkpoint="openai")


@pytest.mark.filterwarnings("ignore:.*deprecated:FutureWarning")
def test_openais_own_file_is_checked_and_read(offline, monkeypatch):
    network = tiny(seed=3)
    sizes = {"input_resolution": 24, "context_length": 16, "vocab_size": 49408}

    class Archive(torch.nn.Module):  # as OpenAI published them: TorchScript
        def __init__(self):
            super().__init__()
            for name, part in network.network.named_children():
                self.add_module(name, part)
            for name, value in [
                *network.network.named_parameters(recurse=False),
                *((k, torch.tensor(v)) for k, v in sizes.items()),
            ]:
                self.register_buffer(name, value.detach())

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    (offline / "clip").mkdir()
    path = offline / "clip/tiny-vit.pt"
    torch.jit.save(torch.jit.trace(Archive(), torch.zeros(1)), str(path))
    publish(monkeypatch, hf_hub="org/tiny/", url=f"https://x/{sha256(path)}/tiny-vit.pt", quick_gelu=True)
    found = tiny(checkpoint="openai", seed=4)
    # it holds half precision
    torch.testing.assert_close(found.network.state_dict(), network.network.state_dict(), rtol=2e-3, atol=1e-4)
    publish(monkeypatch, hf_hub="org/tiny/", url="https://x/0123/tiny-vit.pt")
    with pytest.raises(InputError, match="wrong checksum"):
        tiny(checkpoint="openai")


def test_cloobs_names_are_understood(offline):
    network = open_clip.create_model("tiny-rn", force_quick_gelu=True).eval()
    tower = ("transformer", "token_embedding", "positional_embedding", "ln_final", "text_projection")
    named = {
        f"module.{'transformer.' * name.startswith(tower)}{name}": value for name, value in network.state_dict().items()
    }
    del named["module.logit_scale"]
    (offline / "clip").mkdir()
    path = offline / "clip/cloob_tiny-rn_yfcc_epoch_28.pt"
    torch.save({"epoch": 28, "state_dict": {**named, "module.logit_inv_tau": torch.tensor(3.4)}}, path)
    found = tiny("tiny-rn", "cloob", (3, 32, 32), seed=5)
    assert same(clip.CLIP(network, open_clip.get_tokenizer("tiny-rn"), clip.PIXELS), found)
    torch.save({"epoch": 28, "state_dict": {"module.logit_inv_tau": torch.tensor(3.4)}}, path)
    with pytest.raises(InputError, match="does not hold CLOOB's tiny-rn"):
        tiny("tiny-rn", "cloob", (3, 32, 32))
