"""The contrastive loss of the contrastive adapter (Zhang & Re 2022, Eq. 6).

From cosine similarities, for many anchors at once. The method gets these similarities without the outputs
(``Bottleneck.cosines`` in methods/families/embeddings.py)."""

from torch import Tensor
from torch.nn.functional import softplus

from despur.losses.infonce import check_temperature


def one_positive_contrast(
    positive: Tensor, negative: Tensor, is_positive: Tensor, is_negative: Tensor, temperature: float
) -> Tensor:
    """Eq. 6 of Zhang & Re 2022, one value an anchor, (B,): the denominator for a positive holds no other positive.

    -1/P sum_p log(exp(s_p/t) / (exp(s_p/t) + sum_m exp(s_m/t))) over the positives p with ``is_positive`` and the
    negatives m with ``is_negative``. ``positive`` (B,P), ``negative`` (B,M): cosine similarities with the anchors; t:
    ``temperature``, above 0 (else ValueError). Each anchor needs a positive. The loss of an anchor without negatives is
    0.

    >>> import torch
    >>> from despur.losses import one_positive_contrast
    >>> positive, negative = torch.tensor([[0.9, 0.8]]), torch.tensor([[0.1, -0.2]])
    >>> every = torch.ones(1, 2, dtype=torch.bool)
    >>> one_positive_contrast(positive, negative, every, every, temperature=0.5)
    tensor([0.2978])
    """
    check_temperature(temperature)
    # -1e4 instead of -inf keeps gradients finite
    log_negatives = (negative / temperature).masked_fill(~is_negative, -1e4).logsumexp(dim=1, keepdim=True)
    losses = softplus(log_negatives - positive / temperature)
    return (losses * is_positive).sum(dim=1) / is_positive.sum(dim=1)
