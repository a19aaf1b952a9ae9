"""Heads of foundation models that classify by prompts: they hold the unit-norm embeddings of classes and groups."""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from despur.datasets.sources import prompts

Texts = Callable[[list[str]], Tensor]


class Unit(nn.Module):
    """(B,D) -> rows of length 1."""

    def forward(self, x: Tensor) -> Tensor:
        return normalize(x.float(), dim=1)


def cosine_head(dim: int, outputs: int) -> nn.Linear:
    """Cosines of unit-norm embeddings with ``outputs`` vectors, which are not trained."""
    head = nn.Linear(dim, outputs, bias=False)
    return head.requires_grad_(False)


@torch.no_grad()
def set_head(head: nn.Linear, vectors: Tensor) -> None:
    """Set a head's weights to these vectors (K,D), scaled to length 1."""
    head.weight.copy_(normalize(vectors.float(), dim=1))


@torch.no_grad()
def prompt_embeddings(texts: Texts, of: list[list[str]]) -> Tensor:
    """(K,D): for each of K classes or groups, the mean of its prompts' unit-norm embeddings. All prompts are
    embedded at once."""
    unit = normalize(texts([prompt for prompts in of for prompt in prompts]).float(), dim=1)
    return torch.stack([rows.mean(dim=0) for rows in unit.split([len(prompts) for prompts in of])])


def hold_prompts(networks: nn.ModuleDict, texts: Texts, about: Mapping[str, Any], family: str = "class") -> None:
    """Fill the head with a data set's class prompts and, where it has some, ``group_prompts`` (C,A,D) with those of
    class x attribute."""
    classes, groups = prompts.class_prompts(about, family), prompts.group_prompts(about)
    embedded = prompt_embeddings(texts, [*classes, *groups])
    set_head(networks["head"], embedded[: len(classes)])  # type: ignore[arg-type]
    if groups:
        unit = normalize(embedded[len(classes) :], dim=1).unflatten(0, (len(classes), -1))
        networks.register_buffer("group_prompts", unit)
