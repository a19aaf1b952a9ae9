"""Losses that compare distributions of similarities between views (Zheng et al. 2021; Mitrovic et al. 2021)."""

from torch import Tensor
from torch.nn.functional import kl_div


def cross_entropies(label: Tensor, scores: Tensor) -> Tensor:
    """Cross-entropy (...,B) between distributions ``label`` (B,K) and the softmax of ``scores`` (...,B,K) (Zheng et al.
    2021).

    >>> import torch
    >>> from despur.losses import cross_entropies
    >>> cross_entropies(torch.tensor([[0.5, 0.5]]), torch.tensor([[0.0, 0.0]]))
    tensor([0.6931])
    """
    return -(label * scores.log_softmax(dim=-1)).sum(dim=-1)


def divergence(first: Tensor, second: Tensor) -> Tensor:
    """KL(softmax(first) || softmax(second)) of scores ``first`` (B,K) and ``second`` (B,K), mean over rows: a scalar
    (Mitrovic et al. 2021).

    >>> import torch
    >>> from despur.losses import divergence
    >>> divergence(torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 0.0]]))
    tensor(0.1109)
    """
    return kl_div(second.log_softmax(dim=1), first.log_softmax(dim=1), reduction="batchmean", log_target=True)
