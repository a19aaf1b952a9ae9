"""Contrastive losses on similarities."""

from torch import Tensor, cat


def supervised_contrastive(positive: Tensor, negative: Tensor, temperature: float) -> Tensor:
    """Eq. 17 of Zhang et al. 2022, one value an anchor.

    ``positive`` (B,M) and ``negative`` (B,N) are cosine similarities of B anchors with their positives and negatives:
    -1/M sum_m log(exp(s_m/t) / (sum_m exp(s_m/t) + sum_n exp(s_n/t))). Returns (B,).
    """
    everything = cat([positive, negative], dim=1) / temperature
    return everything.logsumexp(dim=1) - positive.mean(dim=1) / temperature
