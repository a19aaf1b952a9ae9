"""Language models: tiny random networks of the classes that the released code loads, compared with transformers' own
pipeline, which it runs; no download."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import transformers
from torch.nn.functional import pad

from despur.encoders import base, language_model
from despur.specs.settings import SettingError
from despur.storage.store import InputError
from despur.storage.tokenizers import load_tokenizer, tokenize

TEXTS = ["this comment is toxic", "not so", "t"]
SPECIAL = {"gpt2": ["<|endoftext|>"], "roberta": ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]}
TINY = {"vocab_size": 40, "bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1}
MODELS = {
    "gpt-neo-125M": transformers.GPTNeoForCausalLM(
        transformers.GPTNeoConfig(
            vocab_size=40, hidden_size=8, num_layers=2, num_heads=2, attention_types=[[["global", "local"], 1]]
        )
    ),
    "roberta-large-mnli": transformers.RobertaForSequenceClassification(
        transformers.RobertaConfig(
            **TINY, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
    ),
    "bart-large-mnli": transformers.BartForSequenceClassification(
        transformers.BartConfig(
            **TINY,
            **{"d_model": 8, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16},
            **{"encoder_attention_heads": 2, "decoder_attention_heads": 2},
        )
    ),
}


@pytest.fixture
def weights(offline):
    """The networks and vocabularies of letters where their files are looked for."""
    for name, network in MODELS.items():
        network.save_pretrained(offline / name)
    for folder, special in (("gpt-neo-125M", SPECIAL["gpt2"]), ("roberta-large", SPECIAL["roberta"])):
        words = [*special, "Ġ", *"abcdefghijklmnopqrstuvwxyz", "to"]
        (offline / folder).mkdir(exist_ok=True)
        (offline / folder / "vocab.json").write_text(json.dumps({word: i for i, word in enumerate(words)}))
        (offline / folder / "merges.txt").write_text("#version: 0.2\nt o\n")
    return offline


def build(model, pooling="mean"):
    return language_model.build({"model": model, "pooling": pooling}, (30,)).eval()


@torch.no_grad()
@pytest.mark.parametrize("model", MODELS)
def test_embeddings_are_those_of_transformers_pipeline(weights, model):
    network = build(model)
    tokens = torch.from_numpy(tokenize(TEXTS, 30, network.vocabulary)[0:3])
    features = transformers.pipeline(
        "feature-extraction", model=MODELS[model].base_model.eval(), tokenizer=load_tokenizer(network.vocabulary)
    )
    vectors = [torch.tensor(features(text)[0]) for text in TEXTS]
    means = torch.stack([own.mean(dim=0) for own in vectors])
    torch.testing.assert_close(network(tokens), means, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.texts(TEXTS), means, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network(pad(tokens, (0, 9), value=-1)), network(tokens))
    first = build(model, "first_token")
    torch.testing.assert_close(first(tokens), torch.stack([own[0] for own in vectors]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(first.texts(TEXTS), means, rtol=1e-4, atol=1e-5)
    assert network.dim == 8 and network.vocabulary == ("gpt2" if "gpt" in model else "roberta")


@torch.no_grad()
def test_in_gpt_neo_the_first_token_knows_of_no_other(weights):
    network = build("gpt-neo-125M", "first_token")
    one, other = network(torch.from_numpy(tokenize(["toxic", "to be"], 8, "gpt2")[0:2]))
    torch.testing.assert_close(one, other)


@torch.no_grad()
def test_a_text_without_tokens_has_no_direction(weights):
    found = build("gpt-neo-125M")(torch.full((1, 4), -1))
    assert found.tolist() == [[0] * 8]


def test_byte_pairs_are_cut_and_filled(weights):
    found = tokenize(["to be", "", "x" * 30], 6, "gpt2")[0:3]
    assert found.dtype == np.int32 and found[0].tolist() == [28, 1, 3, 6, -1, -1]
    assert found[1].tolist() == [-1] * 6 and (found[2] == found[2, 0]).all()
    assert tokenize(["a"], 5, "roberta")[0:1].tolist() == [[0, 6, 2, -1, -1]]


def test_weights_or_vocabularies_that_do_not_fit_are_errors(weights):
    with pytest.raises(InputError, match=r"roberta-large/config.json is not there .*FacebookAI/roberta-large/"):
        build("roberta-large")
    (weights / "bart-large-mnli/config.json").write_text((weights / "roberta-large-mnli/config.json").read_text())
    with pytest.raises(InputError, match="does not hold the weights of this BartModel"):
        build("bart-large-mnli")
    for content, words in (
        ((weights / "roberta-large/vocab.json").read_text(), "is not the vocabulary gpt2"),
        ("<html>404</html>", "is not the vocabulary gpt2"),
        ('{"<|endoftext|>": 0', r"vocab.json cannot be read"),
    ):
        (weights / "gpt-neo-125M/vocab.json").write_text(content)
        with pytest.raises(InputError, match=words):
            load_tokenizer("gpt2")


def test_a_model_refuses_tokens_of_another_vocabulary(weights):
    about = {"dataset": "amazon", "vocabulary": "bert"}
    with pytest.raises(SettingError, match=r"amazon holds tokens of the vocabulary bert.*amazon\+vocabulary=gpt2"):
        base.check_vocabulary(build("gpt-neo-125M"), about, tokens=True)
    base.check_vocabulary(build("gpt-neo-125M"), about | {"vocabulary": "gpt2"}, tokens=True)
    base.check_vocabulary(SimpleNamespace(), about, tokens=True)
