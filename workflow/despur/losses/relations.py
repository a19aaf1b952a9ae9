"""What samples are like others, compared between views (Zheng et al. 2021; Mitrovic et al. 2021)."""

from torch import Tensor
from torch.nn.functional import kl_div


def cross_entropies(label: Tensor, scores: Tensor) -> Tensor:
    """Cross-entropy (...,B) of distributions ``label`` (B,K) with those of ``scores`` (...,B,K)."""
    return -(label * scores.log_softmax(dim=-1)).sum(dim=-1)


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL divergence of the distributions of scores (B,K) and (B,K), the mean over rows."""
    return kl_div(second.log_softmax(dim=1), first.log_softmax(dim=1), reduction="batchmean", log_target=True)
