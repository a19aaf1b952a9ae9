"""The supervised contrastive loss of Zhang et al. 2022 (Eq. 17), on cosine similarities."""

from torch import Tensor, autocast, cat

from despur.losses.infonce import check_temperature


def supervised_contrastive(positive: Tensor, negative: Tensor, temperature: float) -> Tensor:
    """Eq. 17 of Zhang et al. 2022, one value an anchor, (B,):
    -1/M sum_m log(exp(s_m/t) / (sum_m exp(s_m/t) + sum_n exp(s_n/t))).

    ``positive`` (B,M), ``negative`` (B,N): cosine similarities s of B anchors with their positives and negatives; t:
    ``temperature``, above 0 (else ValueError).

    >>> import torch
    >>> from despur.losses import supervised_contrastive
    >>> positive, negative = torch.tensor([[0.9, 0.8]]), torch.tensor([[0.1, -0.2]])
    >>> supervised_contrastive(positive, negative, temperature=0.5)
    tensor([0.8568])
    """
    check_temperature(temperature)
    scaled = cat([positive, negative], dim=1) / temperature
    return scaled.logsumexp(dim=1) - positive.mean(dim=1) / temperature


def contrast(unit: Tensor, anchor: Tensor, positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Mean of Eq. 17 over anchors: a scalar. ``anchor`` (B,), ``positives`` (B,M), ``negatives`` (B,N): rows of
    ``unit`` (R,D), unit vectors."""
    with autocast(unit.device.type, enabled=False):  # a small temperature needs precise similarities
        similarity = unit[anchor] @ unit.T
    return supervised_contrastive(similarity.gather(1, positives), similarity.gather(1, negatives), temperature).mean()
