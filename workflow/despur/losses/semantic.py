"""The two losses of the meta semantic regularizer (Qiang et al. 2022, Sec. 4): L_msr and L_uni."""

import math

from torch import Tensor, autocast

from despur.losses.infonce import precise


def backdoor(losses: Tensor) -> Tensor:
    """L_msr (Eq. 4 and 6 of Qiang et al. 2022), mean over anchors: -log of the mean over n weightings of P_t =
    exp(-loss) (Eq. 3). A scalar.

    ``losses``: (n,B). A method's loss counts as the -log of a probability, even if it is none (BYOL's).

    >>> import torch
    >>> from despur.losses import backdoor
    >>> backdoor(torch.tensor([[1.0, 2.0], [1.0, 4.0]]))
    tensor(1.7831)
    """
    return (math.log(len(losses)) - (-losses).logsumexp(dim=0)).mean()


def uniformity(weights: Tensor, t: float) -> Tensor:
    """L_uni (Eq. 9 of Qiang et al. 2022) of the vectors A_s in ``weights`` (B,n,c), mean over images: a scalar. ``t``:
    of the Gaussian potential exp(-t d^2), d the distance of unit vectors. As printed, each vector is paired with all n,
    also with itself.

    >>> import torch
    >>> from despur.losses import uniformity
    >>> uniformity(torch.eye(2)[None], t=2.0)
    tensor(0.7113)
    """
    weights = precise(weights)
    with autocast(weights.device.type, enabled=False):
        return (2 * t * weights @ weights.transpose(1, 2) - 2 * t).flatten(1).logsumexp(dim=1).mean()
