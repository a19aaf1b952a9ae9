"""Models of the Hugging Face hub: tiny ones with random weights, saved as transformers saves them; no download."""

import json

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers

from despur.encoders import base, hf
from despur.specs.settings import SettingError
from despur.storage.store import InputError
from despur.storage.tokenizers import load_tokenizer, tokenize

TEXTS = ["this is toxic", "not so"]
WORDS = ["[PAD]", "[UNK]", "this", "is", "not", "so", "toxic"]
LAYERS = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
SEEN = {"image_size": 28, "patch_size": 14}
CONFIGS = {
    "distilbert": transformers.DistilBertConfig(vocab_size=7, dim=8, n_layers=1, n_heads=2, hidden_dim=16),
    "bert": transformers.BertConfig(vocab_size=7, **LAYERS),
    "t5": transformers.T5Config(vocab_size=7, d_model=8, d_kv=4, d_ff=16, num_layers=1, num_heads=2),
    "gpt2": transformers.GPT2Config(vocab_size=7, n_embd=8, n_layer=1, n_head=2),
    "vit": transformers.ViTConfig(**LAYERS, **SEEN),
    "dinov2": transformers.Dinov2Config(**LAYERS, **SEEN),
    "convnext": transformers.ConvNextConfig(hidden_sizes=[4, 8], depths=[1, 1], num_stages=2, image_size=32),
    "clip": transformers.CLIPConfig(
        text_config=LAYERS | {"vocab_size": 7, "eos_token_id": 6}, vision_config=LAYERS | SEEN, projection_dim=4
    ),
}
SETTINGS = {"weights": "pretrained", "pooling": "by_kind"}


@pytest.fixture
def saved(offline):
    """Writes a model, as ``me/KIND`` of the hub, to where its files are looked for; returns the model."""

    def save(kind):
        torch.manual_seed(0)
        network = transformers.AutoModel.from_config(CONFIGS[kind]).eval()
        folder = offline / f"hf/me--{kind}"
        network.save_pretrained(folder)
        (folder / "preprocessor_config.json").write_text(json.dumps({"image_mean": [0.4] * 3, "image_std": [0.2] * 3}))
        words = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
        words.pre_tokenizer = pre_tokenizers.Whitespace()
        transformers.PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]").save_pretrained(folder)
        return network

    return save


def build(kind, shape, **settings):
    return hf.build(SETTINGS | {"model": f"me--{kind}"} | settings, shape).eval()


@torch.no_grad()
@pytest.mark.parametrize("kind", ["distilbert", "bert", "gpt2", "t5"])
def test_texts_are_the_mean_or_the_first_of_their_own_tokens(saved, kind):
    network = saved(kind)
    read_by = network.get_encoder() if kind == "t5" else network
    encoder, first = build(kind, (6,)), build(kind, (6,), pooling="first_token")
    tokens = torch.from_numpy(tokenize(TEXTS, 6, f"me--{kind}")[0:2])
    assert tokens.tolist() == [[2, 3, 6, -1, -1, -1], [4, 5, -1, -1, -1, -1]]
    for row, own, one, text in zip(encoder(tokens), tokens, first(tokens), TEXTS, strict=True):
        states = read_by(own[own >= 0].long()[None]).last_hidden_state[0]
        torch.testing.assert_close(row, states.mean(dim=0), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(one, states[0], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(encoder.texts([text])[0], row, rtol=1e-4, atol=1e-5)
    assert encoder.dim == 8
    with pytest.raises(SettingError, match=rf"civil\+vocabulary=me--{kind}"):
        base.check_vocabulary(encoder, {"dataset": "civil", "vocabulary": "bert"}, tokens=True)


@torch.no_grad()
@pytest.mark.parametrize("kind", ["vit", "dinov2", "convnext", "clip"])
def test_images_are_prepared_as_stated_and_pooled_as_the_model_does(saved, kind):
    network, encoder = getattr(saved(kind), "vision_model", None), build(kind, (3, 40, 40))
    network = network or transformers.AutoModel.from_pretrained(hf_folder(kind)).eval()
    side = 32 if kind == "convnext" else 28
    images = torch.rand(2, 3, side, side)
    found = network((images - 0.4) / 0.2)
    expected = found.last_hidden_state[:, 0] if kind == "vit" else found.pooler_output
    torch.testing.assert_close(encoder(2 * images - 1), expected, rtol=1e-4, atol=1e-5)
    assert encoder(torch.zeros(1, 3, 40, 40)).shape == (1, encoder.dim) == (1, 8)
    mean = build(kind, (3, 40, 40), pooling="mean")(2 * images - 1)
    places = (2, 3) if kind == "convnext" else 1
    torch.testing.assert_close(mean, found.last_hidden_state.mean(dim=places), rtol=1e-4, atol=1e-5)


def hf_folder(kind):
    from despur.storage.pretrained import weights_root

    return weights_root() / f"hf/me--{kind}"


def test_random_weights_need_the_configuration_only(saved):
    saved("distilbert")
    for file in hf_folder("distilbert").iterdir():
        if file.name != "config.json":
            file.unlink()
    assert build("distilbert", (6,), weights="random")(torch.full((1, 6), 3)).shape == (1, 8)


def test_missing_files_are_told_with_their_place_and_address(saved):
    with pytest.raises(InputError, match=r"hf/me--vit/config\.json is not there.*co/me/vit/resolve/main.*--COMMIT"):
        build("vit", (3, 28, 28))
    commit = 40 * "0"
    with pytest.raises(InputError, match=rf"huggingface.co/me/vit/resolve/{commit}/config.json"):
        hf.build(SETTINGS | {"model": f"me--vit--{commit}"}, (3, 28, 28))
    with pytest.raises(InputError, match=r"hf/me--vit/config\.json is not there"):
        load_tokenizer("me--vit")
    saved("vit")
    (hf_folder("vit") / "preprocessor_config.json").write_text("{}")
    with pytest.raises(InputError, match=r"preprocessor_config\.json does not state image_mean"):
        build("vit", (3, 28, 28))
    (hf_folder("vit") / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model\.safetensors is not there"):
        build("vit", (3, 28, 28))
    (hf_folder("vit") / "config.json").write_text('{"model_type": "none"}')
    with pytest.raises(InputError, match="describes no model that transformers knows"):
        build("vit", (3, 28, 28))


def test_inputs_and_models_must_be_of_one_kind(saved):
    saved("distilbert"), saved("vit")
    with pytest.raises(SettingError, match="me--vit reads no texts: it is a ViTModel"):
        build("vit", (6,))
    with pytest.raises(SettingError, match="me--distilbert sees no images"):
        build("distilbert", (3, 28, 28))
    with pytest.raises(SettingError, match="hf takes tokens, and images of three channels"):
        build("vit", (1, 28, 28))


def test_weights_of_another_model_are_refused(saved):
    saved("bert"), saved("distilbert")
    source = hf_folder("bert") / "model.safetensors"
    source.replace(hf_folder("distilbert") / "model.safetensors")
    with pytest.raises(InputError, match="does not hold the weights of this DistilBertModel"):
        build("distilbert", (6,))


def test_a_tokenizer_may_be_a_list_of_words(saved):
    saved("distilbert")
    folder = hf_folder("distilbert")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text("{}")
    (folder / "vocab.txt").write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "fine"]))
    assert tokenize(["fine words"], 4, "me--distilbert")[0:1].tolist() == [[2, 5, 1, 3]]


def test_tokens_are_filled_with_what_is_no_token(saved):
    saved("distilbert")
    assert tokenize(["so is"], 4, "me--distilbert")[0:1].dtype == np.int32
