"""CLIP's loss (Radford et al. 2021, Fig. 3)."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def image_text_contrast(images: Tensor, texts: Tensor, temperature: float) -> Tensor:
    """Each image finds its text among those of the batch, and each text its image: the mean of both cross-entropies.

    ``images``, ``texts``: unit-norm (B,D), row i of both belong together. Equal texts count as different ones.
    """
    logits = images @ texts.T / temperature
    own = torch.arange(len(logits), device=logits.device)
    return (cross_entropy(logits, own) + cross_entropy(logits.T, own)) / 2
