"""Contrastive losses on similarities."""

from torch import Tensor, autocast, cat


def supervised_contrastive(positive: Tensor, negative: Tensor, temperature: float) -> Tensor:
    """Eq. 17 of Zhang et al. 2022, one value an anchor.

    ``positive`` (B,M) and ``negative`` (B,N) are cosine similarities of B anchors with their positives and negatives:
    -1/M sum_m log(exp(s_m/t) / (sum_m exp(s_m/t) + sum_n exp(s_n/t))). Returns (B,).
    """
    everything = cat([positive, negative], dim=1) / temperature
    return everything.logsumexp(dim=1) - positive.mean(dim=1) / temperature


def contrast(unit: Tensor, anchor: Tensor, positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Mean of Eq. 17 over anchors (B,) with their positives (B,M) and negatives (B,N), all given as rows of ``unit`` (R,D)."""
    with autocast(unit.device.type, enabled=False):  # similarities over a small temperature need full precision
        similarity = unit[anchor] @ unit.T
    return supervised_contrastive(similarity.gather(1, positives), similarity.gather(1, negatives), temperature).mean()
