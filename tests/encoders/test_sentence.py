"""Sentence encoders: the real code of transformers on a tiny random model; no download."""

import pytest
import torch
from safetensors.torch import save_file
from transformers import BertConfig, BertModel

from despur.encoders import sentence
from despur.storage.store import InputError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "this", "comment", "is", "toxic", "not", "."]


@pytest.fixture
def text_model(offline):
    """A tiny BERT where sentence-transformers' files are looked for, and BERT's vocabulary."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(offline / "tiny")
    for folder in ("tiny", "bert-base-uncased"):
        (offline / folder).mkdir(exist_ok=True)
        (offline / folder / "vocab.txt").write_text("\n".join(WORDS))
    return offline


def text_encoder(pooling="mean"):
    return sentence.build({"model": "tiny", "pooling": pooling}, (12,)).eval()


@torch.no_grad()
def test_a_sentence_is_the_mean_of_its_own_tokens(text_model):
    network = text_encoder()
    tokens = torch.zeros(2, 12, dtype=torch.int32)
    tokens[0, :4], tokens[1, :6] = torch.tensor([2, 8, 10, 3]), torch.tensor([2, 5, 6, 7, 8, 3])
    states = [network.network(tokens[i : i + 1, :n].long()).last_hidden_state[0] for i, n in ((0, 4), (1, 6))]
    torch.testing.assert_close(network(tokens), torch.stack([s.mean(dim=0) for s in states]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(text_encoder("cls")(tokens), torch.stack([s[0] for s in states]), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(network.texts(["Toxic."]), network(tokens[:1]), rtol=1e-4, atol=1e-5)


def test_a_text_model_with_another_vocabulary_or_weights_is_refused(text_model):
    (text_model / "tiny/model.safetensors").unlink()
    with pytest.raises(InputError, match=r"model.safetensors .* could not be downloaded"):
        text_encoder()
    save_file({"x": torch.zeros(1)}, text_model / "tiny/model.safetensors")
    with pytest.raises(InputError, match="does not hold the weights of this BertModel"):
        text_encoder()
    (text_model / "tiny/vocab.txt").write_text("other")
    with pytest.raises(InputError, match="not the vocabulary of bert-base-uncased"):
        text_encoder()
