"""The language models that the released code of Zhang & Re 2022 lists: GPT-Neo (Black et al. 2021), RoBERTa (Liu et al.
2019) and BART (Lewis et al. 2020), the last two also after training on MNLI; loaded with transformers.

The paper cites GPT-Neo and does not say which model its text results have. An embedding is the mean of the last layer's
token vectors. Files: ``MODEL/config.json``, ``MODEL/model.safetensors`` or ``pytorch_model.bin`` in the folder
DESPUR_WEIGHTS_ROOT; the tokenizers' ``merges.txt`` and ``vocab.json`` in ``gpt-neo-125M/`` and ``roberta-large/``.
Missing files are downloaded. The data must have the model's vocabulary: ``civilcomments+vocabulary=gpt2`` for GPT-Neo,
``vocabulary=roberta`` for the others."""

from typing import Any

import torch
from torch import Tensor, nn

from despur.encoders.base import load_transformer, misfit
from despur.specs.settings import Settings, choice
from despur.storage.pretrained import HUB, fetch
from despur.storage.tokenizers import NO_TOKEN, load_tokenizer

SEED_CHUNK = 5
SETTINGS = {
    "model": choice(
        "gpt-neo-1.3B",
        "released code: all of these; its README: gpt-neo-125M and gpt-neo-1.3B",
        *("gpt-neo-125M", "gpt-neo-1.3B", "gpt-neo-2.7B", "roberta-large", "roberta-large-mnli", "bart-large-mnli"),
    ),
    "pooling": choice(
        "mean",
        "released code: of prompts; of samples it takes the first token's vector, in which GPT-Neo knows no other "
        "token: first_token",
        *("mean", "first_token"),
    ),
}

WEIGHTS = ("{model}/config.json", "{model}/pytorch_model.bin | {model}/model.safetensors")
DOWNLOADED = True

DOWNLOADS = tuple(  # the tokenizers, then the models
    {
        "url": f"https://huggingface.co/{repository}/resolve/main/{name}",
        "file": f"{folder}/{name}",
        "only_with": f"model={models}",
        "license": "MIT",
        "read_in": "released code of Zhang & Re 2022, the names; transformers, the address; the pages, the license",
    }
    for repository, folder, models, names in (
        ("EleutherAI/gpt-neo-125m", "gpt-neo-125M", "gpt-neo-*", ("merges.txt", "vocab.json")),
        ("FacebookAI/roberta-large", "roberta-large", "*-large*", ("merges.txt", "vocab.json")),
        *(
            (repository, model, model, ("config.json", "model.safetensors"))
            for repository, model in (
                ("EleutherAI/gpt-neo-125m", "gpt-neo-125M"),
                ("EleutherAI/gpt-neo-1.3B", "gpt-neo-1.3B"),
                ("EleutherAI/gpt-neo-2.7B", "gpt-neo-2.7B"),
                ("FacebookAI/roberta-large", "roberta-large"),
                ("FacebookAI/roberta-large-mnli", "roberta-large-mnli"),
                ("facebook/bart-large-mnli", "bart-large-mnli"),
            )
        ),
    )
    for name in names
)
REPOSITORIES = {  # of each model
    download["file"].removesuffix("/config.json"): download["url"].removeprefix(HUB).partition("/resolve/")[0]
    for download in DOWNLOADS
    if download["file"].endswith("/config.json")
}


class LanguageModel(nn.Module):
    """Tokens (B,T), ``end`` after the end of a text -> embeddings (B,dim). The mean of a text without tokens is 0."""

    end = NO_TOKEN

    def __init__(self, network: Any, vocabulary: str, pooling: str) -> None:
        super().__init__()
        self.network, self.vocabulary, self.pooling = network, vocabulary, pooling
        self.dim = int(network.config.hidden_size)

    def forward(self, tokens: Tensor) -> Tensor:
        states, mask = self.states(tokens)
        return mean_state(states, mask) if self.pooling == "mean" else states[:, 0]

    def states(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors (B,T,dim) of the last layer, and which of them are of tokens (B,T); without columns of padding."""
        mask = tokens != self.end
        longest = max(1, int(mask.sum(dim=1).max()))
        mask = mask[:, :longest]
        padding = self.network.config.pad_token_id or 0
        numbers = tokens[:, :longest].long().masked_fill(~mask, padding)
        return self.network(numbers, attention_mask=mask.long()).last_hidden_state, mask

    def texts(self, prompts: list[str]) -> Tensor:
        """Embeddings (K,dim) of prompts: always the mean."""
        prompt_tokens = [torch.tensor(row) for row in load_tokenizer(self.vocabulary)(prompts)["input_ids"]]
        tokens = nn.utils.rnn.pad_sequence(prompt_tokens, batch_first=True, padding_value=self.end)
        return mean_state(*self.states(tokens.to(self.network.device)))


def mean_state(states: Tensor, mask: Tensor) -> Tensor:
    """The mean (B,D) of the vectors ``states`` (B,T,D) at the places ``mask`` (B,T)."""
    return states.masked_fill(~mask[..., None], 0).sum(dim=1) / mask.sum(dim=1, keepdim=True).clamp(min=1)


def build(settings: Settings, input_shape: tuple[int, ...]) -> LanguageModel:
    """A language model for tokens (T,). Raises SettingError for other inputs, InputError for files that are missing or
    do not fit."""
    if len(input_shape) != 1:
        raise misfit("language_model", "tokens", input_shape, images="clip takes images")
    import transformers

    model = settings["model"]
    family = model.partition("-")[0]
    name = {"gpt": "GPTNeoModel", "roberta": "RobertaModel", "bart": "BartModel"}[family]
    url = f"{HUB}{REPOSITORIES[model]}/resolve/main/"
    _, path = (fetch(pattern.format(model=model), url) for pattern in WEIGHTS)
    options = {"add_pooling_layer": False} if family == "roberta" else {}
    network = load_transformer(getattr(transformers, name), path, url, **options)
    return LanguageModel(network, "gpt2" if family == "gpt" else "roberta", settings["pooling"])
