"""Contrastive losses on similarities."""

from torch import Tensor, autocast, cat
from torch.nn.functional import softplus


def supervised_contrastive(positive: Tensor, negative: Tensor, temperature: float) -> Tensor:
    """Eq. 17 of Zhang et al. 2022, one value an anchor.

    ``positive`` (B,M) and ``negative`` (B,N) are cosine similarities of B anchors with their positives and negatives:
    -1/M sum_m log(exp(s_m/t) / (sum_m exp(s_m/t) + sum_n exp(s_n/t))). Returns (B,).
    """
    everything = cat([positive, negative], dim=1) / temperature
    return everything.logsumexp(dim=1) - positive.mean(dim=1) / temperature


def contrast(unit: Tensor, anchor: Tensor, positives: Tensor, negatives: Tensor, temperature: float) -> Tensor:
    """Mean of Eq. 17 over anchors (B,) with their positives (B,M) and negatives (B,N), all given as rows of ``unit``
    (R,D)."""
    with autocast(unit.device.type, enabled=False):  # similarities over a small temperature need full precision
        similarity = unit[anchor] @ unit.T
    return supervised_contrastive(similarity.gather(1, positives), similarity.gather(1, negatives), temperature).mean()


def one_positive_contrast(
    positive: Tensor, negative: Tensor, real: Tensor, different: Tensor, temperature: float
) -> Tensor:
    """Eq. 6 of Zhang & Re 2022, one value an anchor: unlike in Eq. 17 above, a positive's denominator holds no other
    positive.

    -1/P sum_p log(exp(s_p/t) / (exp(s_p/t) + sum_m exp(s_m/t))) over ``real`` positives p of (B,P) and ``different``
    negatives m of (B,M), cosine similarities with the anchors. An anchor needs a real positive; without negatives it
    loses nothing. Returns (B,)."""
    against = (
        (negative / temperature).masked_fill(~different, -1e4).logsumexp(dim=1, keepdim=True)
    )  # finite: so are its gradients
    each = softplus(against - positive / temperature)
    return (each * real).sum(dim=1) / real.sum(dim=1)
