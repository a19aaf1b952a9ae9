"""What the meta semantic regulariser minimises (Qiang et al. 2022, Sec. 4): L_msr and L_uni."""

import math

from torch import Tensor


def backdoor(losses: Tensor) -> Tensor:
    """L_msr (Eq. 4 and 6), mean over anchors: -log of the mean of P_t = exp(-loss), Eq. 3, for losses (n,B) of n
    weightings.

    Where a method's loss is no -log of a probability (BYOL's is not), it is taken as one.
    """
    return (math.log(len(losses)) - (-losses).logsumexp(dim=0)).mean()


def uniformity(weights: Tensor, t: float) -> Tensor:
    """L_uni (Eq. 9) of A_s (B,n,c), mean over images; each vector is paired with all n, itself too, as printed."""
    return (2 * t * weights @ weights.transpose(1, 2) - 2 * t).flatten(1).logsumexp(dim=1).mean()
