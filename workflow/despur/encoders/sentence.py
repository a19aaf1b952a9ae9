"""Text models of sentence-transformers, by transformers alone: the mean of a BERT's last token vectors (Reimers &
Gurevych 2019).

The paper names no text model. Data sets of texts are stored as tokens of bert-base-uncased, so the model's vocabulary
must be that one, as of all-MiniLM-L6-v2, all-MiniLM-L12-v2 and multi-qa-MiniLM-L6-cos-v1. Files of
sentence-transformers/MODEL: ``MODEL/config.json``, ``MODEL/vocab.txt``, ``MODEL/model.safetensors`` in the folder that
DESPUR_WEIGHTS_ROOT names; downloaded if they are not there."""

from typing import Any

import torch
from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import Settings, choice, name
from despur.storage.pretrained import BERT, fetch, remedy
from despur.storage.store import InputError

SEED_CHUNK = 5
SETTINGS = {
    "model": name("all-MiniLM-L6-v2", "not stated; small, and knows the tokens of bert-base-uncased"),
    "pooling": choice("mean", "of all-MiniLM-L6-v2; cls: the first token's vector", "mean", "cls"),
}

HUB = "https://huggingface.co/sentence-transformers/"
PADDING = 0


class Sentence(nn.Module):
    """Tokens (B,T), padded with 0 -> embeddings (B,dim)."""

    def __init__(self, network: Any, tokenizer: Any, pooling: str) -> None:
        super().__init__()
        self.network, self.tokenizer, self.pooling, self.dim = network, tokenizer, pooling, network.config.hidden_size

    def forward(self, tokens: Tensor) -> Tensor:
        mask = tokens != PADDING
        longest = max(1, int(mask.sum(dim=1).max()))  # what is padding for the whole batch decides nothing
        mask = mask[:, :longest]
        states = self.network(tokens[:, :longest], attention_mask=mask).last_hidden_state
        if self.pooling == "cls":
            return states[:, 0]
        return (states * mask[..., None]).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)

    def texts(self, prompts: list[str]) -> Tensor:
        """Embeddings (K,dim) of prompts."""
        tokens = self.tokenizer(prompts, padding=True, truncation=True, return_tensors="pt")["input_ids"]
        return self(tokens.to(self.network.device))


def build(settings: Settings, input_shape: tuple[int, ...]) -> Sentence:
    """Raises SettingError for inputs that are not tokens, InputError for files that do not fit or are not there."""
    if len(input_shape) != 1:
        raise misfit("sentence", "tokens", input_shape, images="clip takes images")
    from transformers import BertModel, BertTokenizerFast

    url = f"{HUB}{settings['model']}/resolve/main/"
    config, vocabulary, path = (
        fetch([f"{settings['model']}/{name}"], url) for name in ("config.json", "vocab.txt", "model.safetensors")
    )
    if vocabulary.read_bytes() != fetch(["bert-base-uncased/vocab.txt"], BERT).read_bytes():
        raise InputError(
            f"{vocabulary} is not the vocabulary of bert-base-uncased, in which texts are stored: choose "
            "another encoder.model"
        )
    try:
        network, found = BertModel.from_pretrained(
            str(config.parent),
            local_files_only=True,
            output_loading_info=True,
            dtype=torch.float32,
            add_pooling_layer=False,
        )
        if found["missing_keys"] or found["mismatched_keys"]:
            raise ValueError(f"no fitting {min(map(str, [*found['missing_keys'], *found['mismatched_keys']]))}")
    except Exception as error:  # each of the libraries behind it has its own
        raise InputError(f"{path} does not hold the weights of a BERT ({error}). {remedy(path, url)}") from error
    return Sentence(
        network, BertTokenizerFast.from_pretrained(str(config.parent), local_files_only=True), settings["pooling"]
    )
