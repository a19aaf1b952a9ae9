"""CLIP's loss (Radford et al. 2021, Fig. 3)."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from despur.losses.infonce import check_temperature, precise


def image_text_contrast(images: Tensor, texts: Tensor, temperature: float) -> Tensor:
    """Mean of two cross-entropies, a scalar: to find the text of each image, and the image of each text, in the batch
    (Radford et al. 2021, Fig. 3).

    ``images``, ``texts``: unit vectors (B,D); row i of both is a pair. Their products are divided by
    ``temperature``, above 0 (else ValueError), in at least single precision. Equal texts count as different ones.

    >>> import torch
    >>> from despur.losses import image_text_contrast
    >>> image_text_contrast(torch.eye(2), torch.eye(2), temperature=1.0)
    tensor(0.3133)
    """
    check_temperature(temperature)
    with torch.autocast(images.device.type, enabled=False):
        logits = precise(images) @ precise(texts).T / temperature
    pair = torch.arange(len(logits), device=logits.device)
    return (cross_entropy(logits, pair) + cross_entropy(logits.T, pair)) / 2
