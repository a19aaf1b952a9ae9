"""Text models of sentence-transformers, loaded with transformers: the mean of the token vectors of a BERT (Reimers &
Gurevych 2019).

Zhang & Re 2022 do not say which text model they use; among their references is GPT-Neo. Ours is another, smaller model.
Data sets of texts are stored as tokens of bert-base-uncased, so the model must have this vocabulary, as
all-MiniLM-L6-v2, all-MiniLM-L12-v2 and multi-qa-MiniLM-L6-cos-v1 have. Files of sentence-transformers/MODEL:
``MODEL/config.json``, ``MODEL/vocab.txt``, ``MODEL/model.safetensors`` in the folder DESPUR_WEIGHTS_ROOT. Missing files
are downloaded."""

from typing import Any

import torch
from torch import Tensor, nn

from despur.encoders.base import misfit
from despur.specs.settings import Settings, choice, name
from despur.storage.pretrained import BERT, fetch, remedy
from despur.storage.store import InputError

SEED_CHUNK = 5
SETTINGS = {
    "model": name("all-MiniLM-L6-v2", "not stated; ours: small, with the vocabulary of bert-base-uncased"),
    "pooling": choice("mean", "of all-MiniLM-L6-v2; cls: the vector of the first token", "mean", "cls"),
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
        longest = max(1, int(mask.sum(dim=1).max()))  # columns with padding only change nothing
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
    """A text model for tokens (T,). Raises SettingError for other inputs, InputError for files that are missing or do
    not fit."""
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
        network, loading = BertModel.from_pretrained(
            str(config.parent),
            local_files_only=True,
            output_loading_info=True,
            dtype=torch.float32,
            add_pooling_layer=False,
        )
        if unfit := [*loading["missing_keys"], *loading["mismatched_keys"]]:
            raise ValueError(f"no fitting {min(map(str, unfit))}")
    except Exception as error:  # transformers and safetensors have errors of their own
        raise InputError(f"{path} does not hold the weights of a BERT ({error}). {remedy(path, url)}") from error
    tokenizer = BertTokenizerFast.from_pretrained(str(config.parent), local_files_only=True)
    return Sentence(network, tokenizer, settings["pooling"])
