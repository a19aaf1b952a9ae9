"""Text models of sentence-transformers, loaded with transformers: the mean of the token vectors of a BERT (Reimers &
Gurevych 2019).

None of these is a model of Zhang & Re 2022 (those: ``language_model``); they are smaller, for trying out. The model
must have the vocabulary of bert-base-uncased, as all-MiniLM-L6-v2, all-MiniLM-L12-v2 and multi-qa-MiniLM-L6-cos-v1
have, and so must the data (``vocabulary=bert``, the default). Files of sentence-transformers/MODEL:
``MODEL/config.json``, ``MODEL/vocab.txt``, ``MODEL/model.safetensors`` in the folder DESPUR_WEIGHTS_ROOT. Missing files
are downloaded."""

from typing import Any

from torch import Tensor

from despur.encoders.base import load_transformer, misfit
from despur.encoders.language_model import LanguageModel
from despur.specs.declarations import read_declarations
from despur.specs.settings import Settings, choice, name
from despur.storage.pretrained import BERT, HUB, fetch
from despur.storage.store import InputError

SEED_CHUNK = 5
SETTINGS = {
    "model": name(
        "all-MiniLM-L6-v2", "ours, another model than the paper's: small, with the vocabulary of bert-base-uncased"
    ),
    "pooling": choice("mean", "of all-MiniLM-L6-v2; cls: the vector of the first token", "mean", "cls"),
}

WEIGHTS = ("{model}/config.json", "{model}/vocab.txt", "{model}/model.safetensors")
DOWNLOADS = (
    read_declarations("encoders", "bert")["DOWNLOADS"][0],  # the vocabulary of bert-base-uncased
    *(
        {
            "url": f"https://huggingface.co/sentence-transformers/{model}/resolve/main/{name}",
            "file": f"{model}/{name}",
            "only_with": f"model={model}",
            "license": license,
            "read_in": "sentence-transformers, the names; transformers, the address; pages of copies, the license",
        }
        for model, license in (
            ("all-MiniLM-L6-v2", "Apache 2.0"),
            ("all-MiniLM-L12-v2", ""),
            ("multi-qa-MiniLM-L6-cos-v1", ""),
        )
        for name in ("config.json", "vocab.txt", "model.safetensors")
    ),
)
DOWNLOADED = True


class Sentence(LanguageModel):
    """Tokens (B,T), padded with 0 -> embeddings (B,dim)."""

    end = 0

    def __init__(self, network: Any, tokenizer: Any, pooling: str) -> None:
        super().__init__(network, "bert", pooling)
        self.tokenizer = tokenizer

    def texts(self, prompts: list[str]) -> Tensor:
        """Embeddings (K,dim) of prompts."""
        tokens = self.tokenizer(prompts, padding=True, truncation=True, return_tensors="pt")["input_ids"]
        return self(tokens.to(self.network.device))


def build(settings: Settings, input_shape: tuple[int, ...]) -> Sentence:
    """A text model for tokens (T,). Raises SettingError for other inputs, InputError for files that are missing or do
    not fit."""
    if len(input_shape) != 1:
        raise misfit("sentence", "tokens", input_shape, images="clip takes images")
    from transformers import BertModel, BertTokenizerFast

    url = f"{HUB}sentence-transformers/{settings['model']}/resolve/main/"
    config, vocabulary, path = (fetch(pattern.format(**settings), url) for pattern in WEIGHTS)
    if vocabulary.read_bytes() != fetch("bert-base-uncased/vocab.txt", BERT).read_bytes():
        raise InputError(
            f"{vocabulary} is not the vocabulary of bert-base-uncased, in which texts are stored: choose "
            "another encoder.model"
        )
    network = load_transformer(BertModel, path, url, add_pooling_layer=False)
    tokenizer = BertTokenizerFast.from_pretrained(str(config.parent), local_files_only=True)
    return Sentence(network, tokenizer, settings["pooling"])
