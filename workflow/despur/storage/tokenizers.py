"""Texts as the numbers of a pretrained language model's tokens. No torch here."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from despur.storage.hub import TOKENIZER, address, load_hub_tokenizer, split_commit
from despur.storage.pretrained import BERT, fetch, locate_weights, remedy
from despur.storage.store import Array, InputError, Lazy

NO_TOKEN = -1  # in the place of a token


@dataclass(frozen=True)
class Vocabulary:
    """``tokenizer``: transformers' class; ``files``: what it reads, from the folder ``url``; ``needs``, ``start``: by
    what its last file is known, since transformers reads any other one, too; ``padding``: what short texts are filled
    with at their end, the number of no other token."""

    tokenizer: str
    files: tuple[str, ...]
    url: str
    needs: tuple[str, ...]
    start: str = "{"
    padding: int = NO_TOKEN


VOCABULARIES = {
    "bert": Vocabulary(
        "BertTokenizerFast", ("bert-base-uncased/vocab.txt",), BERT, ("[UNK]", "[CLS]", "[SEP]"), "[PAD]", padding=0
    ),
    "gpt2": Vocabulary(
        "GPT2TokenizerFast",
        ("gpt-neo-125M/merges.txt", "gpt-neo-125M/vocab.json"),
        address("EleutherAI--gpt-neo-125m"),
        ("<|endoftext|>",),
    ),
    "roberta": Vocabulary(
        "RobertaTokenizerFast",
        ("roberta-large/merges.txt", "roberta-large/vocab.json"),
        address("FacebookAI--roberta-large"),
        ("<s>", "<pad>", "</s>", "<unk>"),
    ),
}


def list_missing(vocabulary: str) -> list[str]:
    """The files of a tokenizer that are not there; of alternatives, the last."""
    known = VOCABULARIES.get(vocabulary)
    patterns = known.files if known else [pattern.format(model=vocabulary) for pattern in TOKENIZER]
    return [str(file) for file in map(locate_weights, patterns) if not file.exists()]


def is_downloaded(vocabulary: str) -> bool:
    """Whether the files of a tokenizer come by themselves."""
    return vocabulary in VOCABULARIES or bool(split_commit(vocabulary)[1])


def load_tokenizer(vocabulary: str) -> Any:
    """A tokenizer of transformers: one of :data:`VOCABULARIES`, or that of a model in ``hf/``. Raises InputError for
    files that are missing or hold something else."""
    if vocabulary not in VOCABULARIES:
        return load_hub_tokenizer(vocabulary)
    import transformers

    known = VOCABULARIES[vocabulary]
    path = [fetch(file, known.url) for file in known.files][-1]
    text = path.read_text(encoding="utf-8")
    if not text.startswith(known.start) or not all(token in text for token in known.needs):
        raise InputError(f"{path} is not the vocabulary {vocabulary}. {remedy(path, known.url)}")
    try:
        return getattr(transformers, known.tokenizer).from_pretrained(str(path.parent), local_files_only=True)
    except Exception as error:  # tokenizers has errors of its own
        raise InputError(f"{path} cannot be read ({error}). {remedy(path, known.url)}") from error


def tokenize(texts: list[str], length: int, vocabulary: str = "bert", seconds: list[str] | None = None) -> Lazy:
    """Tokens, int32 (N,length): cut at ``length``, short texts filled with the vocabulary's padding. With ``seconds``,
    each text is a pair with one of them, of which the longer is cut. Raises InputError without its files."""
    tokenizer = load_tokenizer(vocabulary)
    padding = VOCABULARIES[vocabulary].padding if vocabulary in VOCABULARIES else NO_TOKEN

    def make(rows: slice) -> Array:
        pairs = None if seconds is None else seconds[rows]
        numbers = tokenizer(texts[rows], pairs, truncation=True, max_length=length)["input_ids"]
        tokens = np.full((len(numbers), length), padding, np.int32)
        for row, text_tokens in zip(tokens, numbers, strict=True):
            row[: len(text_tokens)] = text_tokens
        return tokens

    return Lazy((len(texts), length), np.int32, make)
